// SPDX-License-Identifier: Apache-2.0
// Ways for hosts to exchange what their ranks have, and what they cost.
#pragma once

#include <vector>

#include "planning/choice/choose.hpp"

namespace coset::choice {

/// A tree or a pipeline between hosts: an algorithm with one parameter, if any.
struct known_tree {
  char const *name, *parameter;
  rank_t value;
  bool keeps_order;  ///< of the ranks, whichever is the root
};

/// Some leaders of each host fold what its ranks have, exchange it with those of other hosts, and hand the result on.
struct exchange {
  std::vector<rank_t> dimensions = {};  ///< of the full folds between hosts; none: of a generalized one
  rank_t radix = 0;                     ///< of that
  std::uint32_t saved_steps = 0;     ///< rounds in which hosts exchange all they have, instead of parts there and back
  rank_t leaders = 1;                ///< of each host, each for a part of the vector; 0: all its ranks
  std::size_t segment_bytes = 0;     ///< 0: all at once
  known_tree const* tree = nullptr;  ///< instead of a fold
  std::uint32_t blocks = 0;          ///< of a pipeline
  schedule::price moved = {};        ///< see volume_of()

  bool is_fold() const { return tree == nullptr; }
  /// Either half of the hosts makes a generalized fold of its own, and in the round that is saved they swap what they have.
  bool swaps_halves() const { return radix != 0 && saved_steps != 0; }
  friend bool operator==(exchange const&, exchange const&) = default;
};

/// Seconds, by what they are spent on.
struct exchange_price {
  double inside = 0;    ///< folds and copies within a host
  double rounds = 0;    ///< latencies between hosts
  double messages = 0;  ///< sending and receiving, by the ranks that do it
  double bytes = 0;     ///< over a host's link, each way
  double combine = 0;   ///< what came over it, and the blocks into which vectors are cut

  double total() const { return inside + rounds + messages + bytes + combine; }
};

/// Blocks of the ranks of one host; the same where hosts are told apart; of one rank of each host, where they are written
/// out for all; and of one host, as the fold over all hosts has them.
inline constexpr std::uint64_t most_cells_of_host = std::uint64_t{1} << 14,
                               most_cells_by_pieces = std::uint64_t{1} << 21,
                               most_cells_of_tree = std::uint64_t{1} << 18, most_cells_of_fold = std::uint64_t{1} << 20;
/// What a host's link takes for a message, whoever sends it.
inline constexpr double per_message = 100e-9;

/// Nothing is folded on the way in another order.
constexpr bool brackets_alike(verb what) { return detail::is_scan(what) || detail::only_moves(what); }

/// The tree or pipeline of an exchange that has one.
schedule::algorithm tree_of(exchange const&);

/// What the busiest host does of one vector, whose leader is one: the price between hosts where a round, a message that one
/// sends or receives, a vector that crosses its link one way and one that it folds cost 1 each. Of the schedule between hosts,
/// one rank of each; of folds without making it for all.
schedule::price volume_of(question const&, exchange const&);

/// Trees, and where a vector takes longer than a round, pipelines in as many blocks as are best for one leader, with what they
/// move: of sums on the usual network, so that bits do not depend on this one.
std::vector<exchange> trees_for(question const&);

/// Of a vector of `q.bytes`, segments overlapping. Prices for q.hosts.network.
exchange_price price_of(question const& q, exchange const&);

/// Everything that can serve; those that differ in segments only are neighbours, without segments first. Full folds all give the same bits: within a host those of either kind of
/// leaders keep rank order, and between hosts they nest by the prime factors of the number of hosts, whatever the
/// dimensions and the steps that are saved.
std::vector<exchange> exchanges_for(question const&);

/// The cheapest one for q.hosts.network, among those with the same bits: full folds, unless a generalized fold, a tree or a
/// pipeline is cheaper on a usual network. That brackets each block in another way, so that all of it is then for a usual
/// network. Only then may halves swap: they gain a tenth at most, and full folds more by being for this network (1.7 times,
/// 4 KiB over 68 hosts at 100 us a message). Broadcasts bracket nothing.
exchange cheapest_exchange(question const&);

/// As a schedule and a storage.
answer as_answer(question const&, exchange const&);

}  // namespace coset::choice
