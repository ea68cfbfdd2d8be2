// SPDX-License-Identifier: Apache-2.0
// Broadcast of blocks in the fewest steps, for every number of ranks.
#pragma once

#include <array>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Root and ranks form a circulant graph: in round k everybody reads of the rank s_k before it, if that has something new.
class circulant_rounds {
 public:
  static constexpr std::size_t most = 32;
  /// By round.
  using blocks = std::array<std::int32_t, most>;

  explicit circulant_rounds(rank_t ranks);

  /// q = ceil(log2 P).
  std::size_t rounds() const { return rounds_; }
  /// s_0 = 1 … s_q = P, each half of the next one, rounded up.
  std::uint64_t skip(std::size_t k) const { return skips_[k]; }

  /// Which block the rank `distance` behind the root receives in the rounds k = 0 … q−1; every q rounds later the block q
  /// behind. Negative ones do not exist yet. A rank gives in round k what the rank s_k behind it receives.
  /// Among the q numbers are its first block b, received before any other, and all of −q … −1 but b − q.
  /// Cost: O(log P), for each rank alone.
  blocks received(rank_t distance) const;

 private:
  class search;

  std::size_t first_block(std::uint64_t distance) const;

  std::size_t rounds_ = 0;
  std::array<std::uint64_t, most + 1> skips_{};
};

/// broadcast, reduce, or allreduce as the one after the other, of n equal blocks. allgather and reduce_scatter too, where
/// every rank is the root of its piece, all at once, and each piece has n blocks.
/// Cost: n − 1 + ceil(log2 P) steps each way, the least possible; a rank reads and gives one block per step at most, of
/// each piece. Rank order is not kept.
/// Source: Träff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction
/// and All-Reduction, 2024.
schedule n_block(rank_t ranks, verb what, rank_t root, block_t blocks);

}  // namespace coset::schedule
