// SPDX-License-Identifier: Apache-2.0
// Whether a profile's hidden clusters are still there when a team starts: virtual machines move.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibration/profile.hpp"

namespace coset::calibration {

/// The one-way latency between two processors right now, in nanoseconds; nothing if it could not be found in time.
using prober = std::function<std::optional<double>(unsigned, unsigned)>;

struct fit {
  bool holds;
  std::string because;  ///< what was measured
};

/// Whether the machine still has the clusters of the profile. Probes one pair inside each cluster and one between it and
/// the next, sixteen pairs at most; a pair that does not fit is probed three times. The clusters hold if every pair inside
/// one is as near as the profile says, and every pair between two as far: half-way between both latencies decides.
fit look_again(profile const&, prober const&);

/// Plays ping-pong with one cache line between the calling thread, which is moved meanwhile, and one of its own. Some 60 µs
/// a pair where both have their processors, `all_pairs` in all: from then on nothing is found.
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
