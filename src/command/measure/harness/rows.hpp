// SPDX-License-Identifier: Apache-2.0
// A measurement as the rows of a table: one per machine state and contestant, in nccl-tests' terms.
#pragma once

#include <optional>

#include "command/measure/harness/rounds.hpp"
#include "command/measure/harness/statistics.hpp"

namespace coset::measure {

struct row {
  contestant const* player = nullptr;
  spread time;                     ///< ns
  double algorithm_bandwidth = 0;  ///< GB/s: bytes / median
  double bus_bandwidth = 0;        ///< GB/s: the former times the vectors that each rank has to receive and send
  std::size_t wrong = 0;
  std::size_t iterations = 0;               ///< timed
  std::optional<comparison> against_coset;  ///< coset's times / this one's; not for coset itself
};

/// The rows of one state; contestant 0 is coset. Contestants that declined have no row.
std::vector<row> rows_of(measurement const&, state_figures const&, std::vector<contestant*> const&);

/// The rival beside which coset is slowest; null if there is none. A result that all ranks share is no rival of private
/// ones.
row const* best_rival(std::vector<row> const&, verb);

/// The row with the least median of all but the references, coset included: a floor that was reached.
row const& least_of(std::vector<row> const&);

}  // namespace coset::measure
