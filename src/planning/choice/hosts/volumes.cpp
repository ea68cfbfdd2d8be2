// SPDX-License-Identifier: Apache-2.0
// What hosts move in an exchange, as their schedules do; and trees and pipelines, in the best number of blocks.

#include <algorithm>
#include <cmath>

#include "planning/choice/hosts/exchange.hpp"
#include "planning/schedule/model/block_number.hpp"

namespace coset::choice {
namespace {

using schedule::algorithm;
using schedule::value_of;

/// Trees and pipelines are written out for all hosts before they are priced.
constexpr rank_t most_hosts_of_trees = 1024, most_hosts_of_pipelines = 64;

schedule::level_machine where_all_costs_one(rank_t hosts) {
  schedule::cost_model ones;
  ones.links = {{UINT32_MAX, 1, 1, 1, 0, 1}};
  ones.combine_per_byte = 1;
  ones.peers_per_latency = UINT32_MAX;
  return {hosts, std::move(ones)};
}

/// Of a generalized fold a rank keeps one lag of radix in each step, rounded up. To count that would take ms for thousands of
/// hosts and each radix. A rank of halves that swap does so for two lags, and sends what it has of both to its partner.
schedule::price volume_of_generalized(verb what, rank_t hosts, exchange const& e) {
  rank_t const folded = e.swaps_halves() ? hosts / 2 : hosts;
  double const all = folded, ways = detail::is_half(what) ? 1 : 2;
  schedule::price sum;
  if (e.swaps_halves()) sum = {.latency = 1, .peers = 1, .transfer = 1 / all, .combine = 2 / all};
  for (rank_t left = folded, next = 0; left > 1; left = next) {
    next = (left + e.radix - 1) / e.radix;
    sum.latency += ways;
    sum.peers += ways * (std::min(e.radix, left) - 1);
    sum.transfer += ways * (left - next) / all;
    if (!detail::gives_pieces(what)) sum.combine += left / all;
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

schedule::price volume_of(question const& q, exchange const& e) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  auto const what = schedule_of(q.what);
  auto const on = where_all_costs_one(hosts);
  auto const counted = [&](algorithm const& how, verb of) {
    return schedule::counts(schedule::make(how, hosts, of), on).most(1);
  };
  if (!e.is_fold()) return counted(tree_of(e), what);
  if (detail::is_scan(q.what)) return counted({"recursive_doubling", {}}, verb::exclusive_scan);
  if (e.dimensions.empty()) return volume_of_generalized(what, hosts, e);
  return schedule::counts(schedule::steps_of_product(e.dimensions, e.saved_steps, what), on).most(1);
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
  return q.commutative || tree.keeps_order || detail::only_moves(q.what);
}

/// A pipeline in its best number of blocks, as two numbers of them tell.
exchange in_best_blocks(known_tree const& tree, question const& q, schedule::link const& network) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  auto const counted = [&](std::uint32_t blocks) { return volume_of(q, exchange{.tree = &tree, .blocks = blocks}); };
  std::uint32_t const few = schedule::few_blocks(hosts), many = 2 * few;
  schedule::two_numbers const moved{double(few), double(many), counted(few), counted(many)};
  auto seconds = moved;
  for (schedule::price* const each : {&seconds.of_few, &seconds.of_many}) {
    each->latency *= network.latency;
    each->peers *= network.per_peer + per_message;
    each->transfer *= static_cast<double>(q.bytes) * network.per_byte;
    each->combine *= static_cast<double>(q.bytes) * fold_per_byte;
  }
  double const most = std::min(double{most_cells_of_host}, double{most_cells_of_tree} / hosts);
  double const blocks = 2 * std::round(std::max(seconds.best(most), 2.0) / 2);  // even: two trees take turns
  return {.tree = &tree, .blocks = static_cast<std::uint32_t>(blocks), .moved = moved.of(blocks)};
}

}  // namespace

std::vector<exchange> trees_for(question const& q) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  bool const has_trees = detail::folds_for_all(q.what) || (detail::is_rooted(q.what) && !detail::is_of_pieces(q.what));
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
