// SPDX-License-Identifier: Apache-2.0
// How many blocks a pipeline is best cut in, given how long the vector is.
#pragma once

#include "planning/schedule/model/cost.hpp"

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

/// The number of blocks from which others are told; an even one, for what goes along two trees by turns. Many are twice that.
std::uint32_t few_blocks(rank_t ranks);

}  // namespace coset::schedule
