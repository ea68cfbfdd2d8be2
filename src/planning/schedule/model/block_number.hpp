// SPDX-License-Identifier: Apache-2.0
// How many blocks a pipeline is best cut in, given how long the vector is.
#pragma once

#include <functional>

#include "planning/schedule/model/selector.hpp"

namespace coset::schedule {

/// What a pipeline takes in two numbers of blocks, and so in any.
///
/// With n blocks a pipeline takes a + c·n steps, each of which moves 1/n of the vector: A + C·n seconds of latencies, and E + F/n
/// of transfers and combines. That is least for n = sqrt(F/C). Under alpha and beta alone F is a·beta·m and C c·alpha: for
/// n_block, with a = ceil(log2 P) − 1 and c = 1, Träff's sqrt((ceil(log2 P) − 1)·beta·m/alpha). Here all four are taken
/// from the exact prices of two numbers of blocks, and so hold for every algorithm, verb and model.
struct two_numbers {
  double few, many;
  price of_few, of_many;

  /// From 1 to `most`.
  double best(double most) const;
  price of(double blocks) const;
};

/// The best numbers of blocks of one algorithm, for any length.
class block_numbers {
 public:
  using pricing = std::function<price(double bytes)>;

  /// Makes two schedules and has them counted. Throws schedule_error where the algorithm takes no blocks.
  block_numbers(algorithm const&, rank_t ranks, verb, rank_t root,
                std::function<pricing(schedule const&)> const& count);

  /// From 1 to most_blocks, of a byte at least, and no more than can be written out in some 300 MB.
  std::uint32_t best(double bytes) const;

 private:
  rank_t ranks_;
  pricing of_few_, of_many_;
};

/// The number of blocks from which others are told; an even one, for what goes along two trees by turns. Many are twice that.
std::uint32_t few_blocks(rank_t ranks);

/// Stands for that number in the parameter blocks.
inline constexpr char const* best_number = "best";

/// The algorithm with so many blocks.
algorithm with_blocks(algorithm, std::uint32_t blocks);

/// Algorithms to try: those that take a number of blocks with the best one for so many bytes on a machine.
std::vector<algorithm> with_best_blocks(std::vector<algorithm>, demand const&, machine const&, double bytes);

}  // namespace coset::schedule
