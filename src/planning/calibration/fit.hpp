// SPDX-License-Identifier: Apache-2.0
// Whether a profile's hidden clusters still exist when a team starts: virtual machines move.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planning/calibration/profile.hpp"

namespace coset::calibration {

/// The one-way latency between two processors right now, in nanoseconds; empty if it was not measured in time.
using prober = std::function<std::optional<double>(unsigned, unsigned)>;

struct fit {
  bool holds;
  std::string because;  ///< what was measured
};

/// Whether the machine still has the clusters of the profile. Probes one pair inside each cluster and one between it
/// and the next, sixteen pairs at most, and a pair that does not fit three times. The clusters hold if every pair
/// inside a cluster is near and every pair between two is far: half-way between both latencies of the profile decides.
fit look_again(profile const&, prober const&);

/// The mean of the middle two if their number is even; NaN if there are none.
double median(std::vector<double> values);

/// Plays ping-pong with one cache line between the calling thread, which is moved meanwhile, and a thread of its own.
/// Takes some 60 µs a pair if both have their processors. After `all_pairs` in total it finds nothing more.
class ping_pong {
 public:
  explicit ping_pong(std::chrono::nanoseconds all_pairs = std::chrono::milliseconds(2)) : all_pairs_(all_pairs) {}
  std::optional<double> operator()(unsigned one, unsigned other);

 private:
  using clock = std::chrono::steady_clock;
  std::chrono::nanoseconds all_pairs_;
  std::optional<clock::time_point> deadline_;
};

}  // namespace coset::calibration
