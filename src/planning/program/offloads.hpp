// SPDX-License-Identifier: Apache-2.0
// What of a schedule the transport can combine by itself: one value of each domain, folded by one rank of each.
#pragma once

#include "planning/program/operation.hpp"

namespace coset::program {

/// A schedule with what can be offloaded in steps of its own.
struct offloaded_schedule {
  /// [domain]: the folds, block by block, of which it makes one rank's
  using slice_of_all = std::vector<std::vector<schedule::assignment>>;

  schedule::schedule whole;
  std::vector<char> combined;                     ///< [step]: all of it is offloaded
  std::vector<std::vector<slice_of_all>> slices;  ///< [step]
};

/// Throws schedule_error if there is nothing to offload, or if it needs more slices than there are combiners for.
offloaded_schedule with_offloads(schedule::schedule const&, distribution const&);

/// [step]: one domain's slices, as assignments of its part.
std::vector<std::vector<slice>> slices_of(offloaded_schedule const&, schedule::part const&, std::size_t domain);

}  // namespace coset::program
