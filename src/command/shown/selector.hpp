// SPDX-License-Identifier: Apache-2.0
// The choice by model: all candidates for a call, scored with exact counts, and pipelines in their best numbers of blocks.
#pragma once

#include <functional>
#include <vector>

#include "planning/schedule/model/demand.hpp"

namespace coset::schedule {

struct scored {
  candidate const* which;
  double seconds;
};

/// The candidates of a demand under the levels of one model, counted once and scored for any number of sizes.
class selector {
 public:
  /// Generates, validates and counts candidates_for() it. Cost: some forty schedules, twenty more with nodes.
  /// Throws schedule_error if nothing serves the demand, or there is no rank.
  selector(demand const&, cost_model const&);
  /// The same for ranks placed anyhow.
  selector(demand const&, level_machine const&);
  /// The same of these algorithms.
  selector(demand const&, level_machine const&, std::vector<algorithm> const& tried);

  std::vector<candidate> const& candidates() const { return candidates_; }

  /// Fastest first; equal times in the order of the registry. Refers to candidates().
  std::vector<scored> rank(double bytes) const;
  scored best(double bytes) const { return rank(bytes).front(); }

 private:
  std::vector<candidate> candidates_;
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

/// Stands for that number in the parameter blocks.
inline constexpr char const* best_number = "best";

/// The algorithm with so many blocks.
algorithm with_blocks(algorithm, std::uint32_t blocks);

/// Algorithms to try: those that take a number of blocks with the best one for so many bytes on a machine.
std::vector<algorithm> with_best_blocks(std::vector<algorithm>, demand const&, machine const&, double bytes);

}  // namespace coset::schedule
