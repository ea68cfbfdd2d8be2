// SPDX-License-Identifier: Apache-2.0
// The choice for ranks of several hosts, which share no memory.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/text/format.hpp"
#include "planning/choice/hosts/exchange.hpp"
#include "planning/choice/levels.hpp"
#include "planning/choice/storages.hpp"
#include "planning/schedule/groups/nesting.hpp"
#include "planning/schedule/registry/least_steps.hpp"

namespace coset::choice {
namespace {

using schedule::algorithm;
using schedule::value_of;

/// Longer messages travel in parts, see mpi/transport/endpoint.
constexpr double part_bytes = 60 * kibibyte;
/// Of values that come in one round for one rank's piece, whose lifetimes are compared; for all ranks of a host.
constexpr std::uint64_t most_pairs_by_pieces = std::uint64_t{1} << 27;
/// Looked at and copied between neighbours, whatever its length.
constexpr double per_block = 20e-9;
/// Segments under way at once.
constexpr double in_flight = 4;
constexpr std::size_t least_segment = 128 * kibibyte, most_segment = 4 * mebibyte;
/// Up to here arrays are copied into staging, whence messages leave anyway.
constexpr std::size_t most_copied = 16 * kibibyte;
/// More dimensions than this are never worth their rounds.
constexpr std::size_t most_rounds = 6;
using detail::is_rooted;

rank_t largest_host(question const& q) { return std::ranges::max(q.hosts.ranks); }

/// Of the largest host.
rank_t leaders_of(question const& q, exchange const& e) { return e.leaders == 0 ? largest_host(q) : e.leaders; }

/// Parts that a host has when halves swap theirs; else the last one is its own.
rank_t kept_to_swap(exchange const& e) { return e.swaps_halves() ? 2 : 1; }

/// How many hosts' parts a host has after each step: from all, one of each, to its own.
std::vector<rank_t> parts_left(rank_t hosts, exchange const& e) {
  std::vector<rank_t> left{hosts};
  for (rank_t const d : e.dimensions) left.push_back(left.back() / d);
  rank_t const kept = kept_to_swap(e);
  while (e.dimensions.empty() && left.back() > kept)
    left.push_back((left.back() / kept + e.radix - 1) / e.radix * kept);
  if (kept > 1) left.push_back(1);
  return left;
}

/// Runs of neighbouring blocks that one host treats alike: in each round one for each peer. Hosts' pieces cannot be moved so
/// that what a product sends lies together.
double runs_of(verb what, rank_t hosts, exchange const& e) {
  if (!e.is_fold()) return std::max(e.blocks, 1u);
  if (detail::is_half(what) && e.dimensions.size() > 1) return hosts;
  auto const left = parts_left(hosts, e);
  rank_t const kept = kept_to_swap(e);
  double runs = kept;
  for (std::size_t i = 0; i + 1 + e.saved_steps < left.size(); ++i)
    runs += (e.dimensions.empty() ? kept * (std::min(e.radix, left[i] / kept) - 1) : e.dimensions[i] - 1);
  return runs;
}

/// Leaders read what all have, and all copy what leaders have made.
double inside_seconds(question const& q, exchange const& e, double bytes) {
  rank_t const ranks = largest_host(q);
  if (ranks < 2) return 0;
  schedule::link const near = link_of_l3();
  double const round = near.latency + (ranks - 1) * near.per_peer;
  double const all = (ranks - 1) * bytes / leaders_of(q, e), read = detail::gives_pieces(q.what) ? bytes / ranks : all;
  double const given = detail::gets_pieces(q.what) ? bytes / ranks : bytes;
  return 2 * round + (read + given) * (near.per_byte + fold_per_byte);
}

exchange_price segment_price(question const& q, exchange const& e, double bytes) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  schedule::price const& of = e.moved;
  rank_t const leaders = leaders_of(q, e), carriers = std::min(leaders, std::max(q.hosts.carriers, 1u));
  double const parts = of.peers * leaders;
  double const sent = std::max(parts, of.transfer * bytes / part_bytes);
  exchange_price one;
  one.inside = inside_seconds(q, e, bytes);
  one.rounds = of.latency * q.hosts.network.latency;
  one.messages = sent / carriers * q.hosts.network.per_peer + sent * per_message;
  one.bytes = of.transfer * bytes * q.hosts.network.per_byte;
  one.combine = of.combine * bytes * fold_per_byte / leaders + runs_of(q.what, hosts, e) * per_block;
  return one;
}

bool can_be_cut(question const& q) { return !detail::is_half(q.what); }  // pieces cannot be cut further

/// Whether hosts can make their part, see schedule::make_part().
bool has_room(question const& q, exchange const& e) {
  auto const hosts = static_cast<std::uint64_t>(q.hosts.ranks.size());
  std::uint64_t const here = largest_host(q), leaders = leaders_of(q, e);
  if (detail::is_scan(q.what)) return here * leaders <= most_cells_of_host;
  if (!e.is_fold()) {
    std::uint64_t const blocks = std::max(e.blocks, 1u);
    return here * leaders * blocks <= most_cells_of_host && hosts * blocks <= most_cells_of_tree;
  }
  auto const left = parts_left(static_cast<rank_t>(hosts), e);
  std::uint64_t const blocks = left.size() - 1 == e.saved_steps ? 1 : hosts;
  auto const runs = static_cast<std::uint64_t>(runs_of(q.what, static_cast<rank_t>(hosts), e));
  if (detail::is_half(q.what)) {
    std::uint64_t const peers = e.dimensions.empty() ? e.radix : std::ranges::max(e.dimensions);
    return here * (runs + leaders + here) <= most_cells_by_pieces && here * peers * peers <= most_pairs_by_pieces;
  }
  if (here * leaders * runs > most_cells_of_host) return false;
  if (is_rooted(q.what)) return hosts * blocks <= most_cells_of_tree;
  return blocks == 1 || hosts * left[left.size() - 1 - e.saved_steps] <= most_cells_of_fold;
}

std::vector<std::size_t> segments_for(question const& q) {
  std::vector<std::size_t> all{0};
  if (!can_be_cut(q)) return all;
  for (std::size_t s = least_segment; s <= most_segment && s < q.bytes; s *= 2) all.push_back(s);
  return all;
}

/// One; those of the first ranks that send themselves; some that fold in parallel, whoever sends; or all ranks.
std::vector<rank_t> leaders_for(question const& q) {
  constexpr rank_t some = 8;
  std::vector<rank_t> all{1};
  rank_t const ranks = largest_host(q);
  for (rank_t const number : {q.hosts.first_carriers, some}) {
    if (number > all.back() && number < ranks) all.push_back(number);
  }
  if (ranks > 1) all.push_back(0);
  return all;
}

/// Of many the best for each number of rounds: those with fewest messages.
void keep_few(std::vector<std::vector<rank_t>>& all) {
  constexpr std::size_t many = 64, few = 6;
  if (all.size() <= many) return;
  auto const messages = [](auto const& d) { return std::accumulate(d.begin(), d.end(), std::uint64_t{0}); };
  std::ranges::stable_sort(all, {}, [&](auto const& d) { return std::pair(d.size(), messages(d)); });
  std::size_t same = 0, rounds = 0;
  std::erase_if(all, [&](auto const& d) {
    same = d.size() == rounds ? same + 1 : 0;
    rounds = d.size();
    return same >= few;
  });
}

/// Products of neighbours: 3, 2, 2 as 12, 3·4, 6·2 and 3·2·2.
std::vector<std::vector<rank_t>> groupings(std::vector<rank_t> const& factors) {
  std::vector<std::vector<rank_t>> all{{}};
  for (rank_t const factor : factors) {
    std::vector<std::vector<rank_t>> longer;
    for (auto const& begun : all) {
      if (!begun.empty()) {
        longer.push_back(begun);
        longer.back().back() *= factor;
      }
      if (begun.size() == most_rounds) continue;
      longer.push_back(begun);
      longer.back().push_back(factor);
    }
    all = std::move(longer);
  }
  keep_few(all);
  return all;
}

/// Where it is known which hosts are behind one switch, they exchange first, and most: each switch's link then carries no
/// more than one host's would.
std::vector<std::vector<rank_t>> dimensions_for(question const& q) {
  if (!q.hosts.switches.empty()) return {q.hosts.switches};
  return groupings(schedule::prime_factors(static_cast<rank_t>(q.hosts.ranks.size())));
}

template <class Price>
exchange const& least(std::vector<exchange> const& all, Price price) {
  exchange const* found = nullptr;
  double least = std::numeric_limits<double>::max();
  for (exchange const& e : all) {
    double const seconds = price(e);
    if (seconds >= least * (1 - equal_within)) continue;
    least = seconds;
    found = &e;
  }
  return *found;
}

}  // namespace

/// Segments overlap: the link is busy all the time, or the rank that carries is. But what a host sends next waits for what
/// has come, so that every few segments pay the latencies; and nothing overlaps with what happens inside a host before
/// the first message and after the last one.
exchange_price price_of(question const& q, exchange const& e) {
  double const bytes = static_cast<double>(q.bytes);
  if (e.segment_bytes == 0 || e.segment_bytes >= q.bytes) return segment_price(q, e, bytes);
  double const segments = bytes / static_cast<double>(e.segment_bytes);
  exchange_price one = segment_price(q, e, static_cast<double>(e.segment_bytes));
  double const work = segments * (one.inside + one.messages + one.combine), link = segments * one.bytes;
  one.rounds *= std::max(segments / in_flight, 1.0);
  one.bytes = link;
  one.combine += std::max(work - link, 0.0);
  return one;
}

std::vector<exchange> exchanges_for(question const& q) {
  auto const hosts = static_cast<rank_t>(q.hosts.ranks.size());
  auto const segments = segments_for(q);
  auto const leaders = leaders_for(q);
  std::vector<exchange> all;
  auto const add = [&](exchange e, std::size_t most_saved) {
    for (std::size_t saved = 0; saved <= most_saved; ++saved) {
      e.saved_steps = static_cast<std::uint32_t>(saved);
      if (e.is_fold()) e.moved = volume_of(q, e);
      for (rank_t const number : leaders) {
        for (std::size_t const bytes : segments) {
          if (e.blocks > 0 && bytes != 0) break;  // into blocks, instead of segments
          e.leaders = number;
          e.segment_bytes = bytes;
          if (has_room(q, e)) all.push_back(e);
        }
      }
    }
  };
  if (detail::is_scan(q.what)) {
    add({{}, 2}, 0);
    return all;
  }
  for (auto& dimensions : dimensions_for(q)) {
    std::size_t const steps = detail::is_half(q.what) ? 0 : dimensions.size();
    add({std::move(dimensions)}, steps);
  }
  bool const in_any_order = q.commutative || detail::gives_pieces(q.what);
  if (in_any_order && (q.hosts.switches.empty() || all.empty())) {
    for (rank_t radix = 2; radix <= 8 && radix < hosts; ++radix) {
      bool const swaps = !detail::is_half(q.what) && schedule::halves_save_a_step(hosts, radix);
      add({{}, radix}, swaps ? 1 : 0);
    }
  }
  for (exchange& tree : trees_for(q)) add(std::move(tree), 0);
  if (all.empty() && detail::is_half(q.what)) {
    throw argument_error(
        text::format("{} over {} hosts of up to {} ranks is too much for this operation, which does not commute: hosts "
                     "that exchange in the order of their ranks need a number of hosts with factors below {}, and no "
                     "more than {} of them",
                     name_of(q.what), hosts, largest_host(q),
                     std::uint64_t(std::sqrt(double(most_pairs_by_pieces) / largest_host(q))),
                     most_cells_by_pieces / largest_host(q)));
  }
  if (all.empty()) {  // least room of all; making it says what is too much
    all.push_back({.dimensions = {hosts}, .saved_steps = 1});
    all.back().moved = volume_of(q, all.back());
  }
  return all;
}

exchange cheapest_exchange(question const& q) {
  auto all = exchanges_for(q);
  auto const price = [&](exchange const& e) { return price_of(q, e).total(); };
  if (brackets_alike(q.what)) return least(all, price);
  question usual = q;
  usual.hosts.network = usual_network;
  auto const on_usual = [&](exchange const& e) { return price_of(usual, e).total(); };
  auto const unless_swapped = [&](exchange const& e) {
    return e.swaps_halves() ? std::numeric_limits<double>::max() : on_usual(e);
  };
  if (least(all, unless_swapped).dimensions.empty()) return least(all, on_usual);
  std::erase_if(all, [](exchange const& e) { return e.dimensions.empty(); });
  return least(all, price);
}

answer as_answer(question const& q, exchange const& e) {
  if (detail::is_scan(q.what)) {
    schedule::algorithm how{"two_level_scan",
                            {{"nodes", value_of(q.hosts.ranks, '+')}, {"leaders", value_of(e.leaders)}}};
    return {std::move(how), staged, e.segment_bytes, price_of(q, e).total()};
  }
  schedule::algorithm how{"two_level",
                          {{"nodes", value_of(q.hosts.ranks, '+')},
                           {"leaders", value_of(e.leaders)},
                           {"saved_steps", value_of(e.saved_steps)}}};
  if (!e.is_fold()) {
    algorithm tree = tree_of(e);
    how.parameters["between"] = tree.name;
    how.parameters.merge(tree.parameters);
  } else if (e.dimensions.empty()) {
    how.parameters["radix"] = value_of(e.radix);
    if (e.swaps_halves()) {
      how.parameters["between"] = "tower";
      how.parameters["factors"] = value_of({static_cast<rank_t>(q.hosts.ranks.size() / 2), 2}, 'x');
    }
  } else {
    how.parameters["between"] = "product";
    how.parameters["dims"] = value_of(e.dimensions, 'x');
    how.parameters["nested"] = "1";
  }
  bool const is_staged = q.bytes <= most_copied || !q.pointers;
  return {std::move(how), is_staged ? staged : zero_copy, e.segment_bytes, price_of(q, e).total()};
}

/// Pieces that only move: one message from each host to each that reads of it. The root's host has one leader, who keeps
/// nothing for itself; of an all_to_all each leads for the ranks of some hosts.
answer moves_between(question const& q) {
  schedule::algorithm how{"two_level",
                          {{"nodes", value_of(q.hosts.ranks, '+')},
                           {"leaders", detail::swaps_pieces(q.what) ? "0" : "1"},
                           {"between", "direct"}}};
  return {std::move(how), staged};
}

answer choose_between(question const& q) {
  return goes_straight(q.what) ? moves_between(q) : as_answer(q, cheapest_exchange(q));
}

/// If all ranks of unequal domains lead, there are more slices than leaders.
schedule::algorithm offloaded_between(std::vector<rank_t> const& domains, std::size_t slices) {
  std::size_t const fewest = *std::ranges::min_element(domains);
  return {"two_level",
          {{"nodes", value_of(domains, '+')},
           {"leaders", value_of(std::clamp<std::size_t>(slices, 1, fewest))},
           {"between", "direct"},
           {"saved_steps", "1"}}};
}

}  // namespace coset::choice
