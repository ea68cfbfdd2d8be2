// SPDX-License-Identifier: Apache-2.0
// Times of schedules for figures, each schedule counted once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lab/reproduce/figure.hpp"

namespace coset::cli::reproduction {

/// What the caller wants instead of the sources' parameters.
struct replaced_costs {
  std::optional<double> alpha, beta, gamma;
};

class pricing {
 public:
  explicit pricing(replaced_costs const& instead) : instead_(instead) {}

  /// A source's parameters, unless the caller gave others.
  flat_costs costs(flat_costs usual) const;

  /// Under one cost for all pairs of ranks. Figures share what is counted.
  counted const& flat(std::string const& algorithm, rank_t ranks, flat_costs const& usual = {});

 private:
  replaced_costs instead_;
  std::map<std::tuple<std::string, std::string, rank_t>, counted> counted_;  // by model, algorithm and ranks
};

/// 16, 32, 64 … as far as `last`.
std::vector<std::uint64_t> sizes_between(std::uint64_t first, std::uint64_t last);

/// The microseconds of one schedule at each size; `like` has the setting, the curve, the ranks and the algorithm.
void add_times(std::vector<point>& to, point like, counted const& work, std::vector<std::uint64_t> const& sizes);

}  // namespace coset::cli::reproduction
