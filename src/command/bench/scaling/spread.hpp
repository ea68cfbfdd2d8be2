// SPDX-License-Identifier: Apache-2.0
// Rounds of runs that did not take turns: their ratio with an interval, whether they drift, which are outliers. Pure functions.
#pragma once

#include <cstddef>
#include <vector>

namespace coset::cli {

struct interval {
  double median = 0, low = 0, high = 0;  ///< bootstrap, 95 %
};

/// Of the median of rounds.
interval interval_of(std::vector<double> const& rounds);

/// median(above) / median(below), each resampled by itself. Both have rounds.
interval ratio_of(std::vector<double> const& above, std::vector<double> const& below);

struct steadiness {
  double drift = 1;  ///< median of the last third of the rounds / of the first third; 1 where these overlap
  std::size_t outliers =
      0;  ///< rounds farther from the median than five times the median distance, and than a tenth of it
  bool drifts() const { return drift > 1.1 || drift < 1 / 1.1; }
};

/// Rounds in their order in time.
steadiness steadiness_of(std::vector<double> const& rounds);

}  // namespace coset::cli
