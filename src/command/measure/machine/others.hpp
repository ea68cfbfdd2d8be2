// SPDX-License-Identifier: Apache-2.0
// What other programs do on the processors that are measured.
#pragma once

#include <chrono>
#include <vector>

namespace coset::measure {

/// An account from the object's construction on.
class others {
 public:
  explicit others(std::vector<unsigned> const& processors);

  /// How much of these processors others had, the hypervisor included: 0 to 1. 0 where the system does not tell.
  double share() const;

 private:
  /// Seconds that the processors were not idle, and those of this program on any.
  struct seconds {
    double all = 0, own = 0;
  };
  seconds so_far() const;

  std::vector<unsigned> processors_;  ///< each once
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  seconds before_;
};

}  // namespace coset::measure
