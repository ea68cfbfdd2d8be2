// SPDX-License-Identifier: Apache-2.0
// The figures of a benchmark's row: the spread of one contestant, and the paired comparison of two.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace coset::measure {

/// Median of a non-empty sample; the mean of the middle two if their number is even.
double median(std::vector<double> samples);

/// Smallest value that at least `fraction` of a non-empty sample do not exceed (nearest rank).
double quantile(std::vector<double> samples, double fraction);

struct spread {
  double minimum = 0;
  double median = 0;
  double p99 = 0;
  std::size_t samples = 0;
};

/// Throws argument_error if there are no samples.
spread spread_of(std::vector<double> const& samples);

enum class verdict {
  faster,     ///< the whole interval is below 1
  level,      ///< not known to be faster, and the whole interval is at most `tolerance`
  undecided,  ///< the interval straddles `tolerance`, or there are too few rounds
  slower      ///< the whole interval is above `tolerance`
};

std::string_view name_of(verdict);

/// Two runs of the same binary differ by ratios up to this one.
inline constexpr double tolerance = 1.05;

/// With fewer rounds not even their whole range contains the median with 95 % (2·0.5^n > 0.05).
inline constexpr std::size_t fewest_rounds = 6;

struct comparison {
  double ratio = 0;  ///< median of ours / theirs, round by round
  double low = 0;    ///< bootstrap 95 % interval of that median
  double high = 0;
  std::size_t rounds = 0;
  measure::verdict verdict = verdict::undecided;
};

/// The same as people read it: how many times faster ours is, 1.8 where theirs takes 1.8 times as long.
struct advantage {
  double median = 0, low = 0, high = 0;
};
advantage advantage_of(comparison const&);

/// Compares two contestants measured in the same rounds: ours[i] and theirs[i] are times of round i.
/// Deterministic: the resampling starts from a fixed seed. Throws argument_error if the lengths differ or are 0.
comparison compare(std::span<double const> ours, std::span<double const> theirs);

}  // namespace coset::measure
