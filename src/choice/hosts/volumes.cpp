// SPDX-License-Identifier: Apache-2.0
// What hosts move in an exchange, as their schedules do; and trees and pipelines, in the best number of blocks.

#include <algorithm>
#include <cmath>

#include "choice/hosts/exchange.hpp"
#include "schedule/model/foreseen.hpp"
#include "schedule/registry/least_steps.hpp"

namespace coset::choice {
namespace {

using schedule::algorithm;
using schedule::value_of;

/// Trees and pipelines are written out for all hosts before they are priced.
constexpr rank_t most_hosts_of_trees = 1024, most_hosts_of_pipelines = 64;

/// Of the busiest port and the busiest rank in each step.
exchange_volume volume_of(std::vector<std::vector<schedule::work>> const& steps) {
  exchange_volume sum;
  for (auto const& works : steps) {
    double messages = 0, bytes = 0, combined = 0;
    for (schedule::work const& done : works) {
      combined = std::max(combined, done.combined);
      for (schedule::port const* const one : {&done.received, &done.sent}) {
        if (one->empty()) continue;
        messages = std::max<double>(messages, one->front().peers);
        bytes = std::max(bytes, one->front().volume);
      }
    }
    sum.rounds += messages > 0;
    sum.messages += messages;
    sum.bytes += bytes;
    sum.combined += combined;
  }
  return sum;
}

/// Of a generalized fold a rank keeps one lag of radix in each step, rounded up. To count that would take ms for thousands of
/// hosts and each radix.
exchange_volume volume_of_generalized(verb what, rank_t hosts, rank_t radix) {
  exchange_volume sum;
  double const all = hosts, ways = is_by_pieces(what) ? 1 : 2;
  for (rank_t left = hosts, next = 0; left > 1; left = next) {
    next = (left + radix - 1) / radix;
    sum.rounds += ways;
    sum.messages += ways * (std::min(radix, left) - 1);
    sum.bytes += ways * (left - next) / all;
    if (what != verb::allgather) sum.combined += left / all;
  }
  return sum;
}

}  // namespace

algorithm tree_of(exchange const& e) {
  algorithm how{e.tree->name, {}};
  if (e.tree->parameter != nullptr) how.parameters[e.tree->parameter] = value_of(e.tree->value);
  if (e.blocks > 0) how.parameters["blocks"] = value_of(e.blocks);
  return how;
}

exchange_volume volume_of(question const& q, exchange const& e) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  auto const what = schedule_of(q.what);
  schedule::rank_levels const level({std::vector<unsigned>(hosts)});
  if (!e.is_fold()) return volume_of(schedule::counts(schedule::make(tree_of(e), hosts, what), level).steps());
  if (scans(q.what))
    return volume_of(
        schedule::counts(schedule::make({"recursive_doubling", {}}, hosts, verb::exclusive_scan), level).steps());
  if (!e.dimensions.empty()) return volume_of(schedule::works_of_product(e.dimensions, e.saved_steps, what, level));
  return volume_of_generalized(what, hosts, e.radix);
}

namespace {

constexpr known_tree known_trees[] = {
    {"binomial", "radix", 2, true}, {"binomial", "radix", 4, true}, {"binomial", "radix", 8, true}};
constexpr known_tree known_pipelines[] = {{"n_block", nullptr, 0, false},
                                          {"two_trees", nullptr, 0, false},
                                          {"pipelined", "degree", 1, false},
                                          {"pipelined", "degree", 2, true},
                                          {"dual_root", "degree", 2, true}};

bool serves(known_tree const& tree, question const& q) {
  return q.commutative || tree.keeps_order || q.what == verb::broadcast;
}

/// A pipeline in its best number of blocks. Rounds and messages are linear in that number, what moves is so in its inverse: both
/// are known from two schedules, see schedule::block_numbers.
exchange in_best_blocks(known_tree const& tree, question const& q, schedule::link const& network) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  double const few = 2 * schedule::ceil_log(hosts, 2) + 2, many = 2 * few;
  auto const counted = [&](double blocks) {
    return volume_of(q, exchange{.tree = &tree, .blocks = static_cast<std::uint32_t>(blocks)});
  };
  exchange_volume const first = counted(few), second = counted(many);
  auto const each_block = [&](double exchange_volume::*what) { return (second.*what - first.*what) / (many - few); };
  auto const each_part = [&](double exchange_volume::*what) {
    return (first.*what - second.*what) / (1 / few - 1 / many);
  };
  double const growing = each_block(&exchange_volume::rounds) * network.latency +
                         each_block(&exchange_volume::messages) * (network.per_peer + per_message);
  double const shrinking = static_cast<double>(q.bytes) * (each_part(&exchange_volume::bytes) * network.per_byte +
                                                           each_part(&exchange_volume::combined) * fold_per_byte);
  double const most = std::min(double{most_cells_of_host}, double{most_cells_of_tree} / hosts);
  double const best = growing > 0 ? std::sqrt(std::max(shrinking, 0.0) / growing) : most;
  double const blocks = 2 * std::round(std::clamp(best, 2.0, most) / 2);  // even: two trees take turns
  exchange found{.tree = &tree, .blocks = static_cast<std::uint32_t>(blocks)};
  for (auto const what : {&exchange_volume::rounds, &exchange_volume::messages})
    found.moved.*what = first.*what + each_block(what) * (blocks - few);
  for (auto const what : {&exchange_volume::bytes, &exchange_volume::combined})
    found.moved.*what = first.*what + each_part(what) * (1 / blocks - 1 / few);
  return found;
}

}  // namespace

std::vector<exchange> trees_for(question const& q) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  bool const has_trees = q.what == verb::broadcast || q.what == verb::reduce || q.what == verb::allreduce;
  if (!has_trees || hosts < 3 || hosts > most_hosts_of_trees || !q.hosts.switches.empty()) return {};
  schedule::link const& network = brackets_alike(q.what) ? q.hosts.network : usual_network;
  std::vector<exchange> all;
  for (known_tree const& tree : known_trees) {
    if (!serves(tree, q)) continue;
    all.push_back({.tree = &tree});
    all.back().moved = volume_of(q, all.back());
  }
  bool const is_long = static_cast<double>(q.bytes) * network.per_byte > network.latency;
  // Where everything passes through staging it goes in segments anyway, and blocks of these would be short messages.
  if (!is_long || !q.pointers || hosts > most_hosts_of_pipelines) return all;
  for (known_tree const& tree : known_pipelines)
    if (serves(tree, q)) all.push_back(in_best_blocks(tree, q, network));
  return all;
}

}  // namespace coset::choice
