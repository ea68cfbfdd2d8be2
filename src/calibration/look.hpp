// SPDX-License-Identifier: Apache-2.0
// A quick look at the memory of the machine when a team is made: what no machine tells, and virtual ones tell wrongly.
#pragma once

#include <chrono>
#include <optional>

#include "calibration/memory_facts.hpp"

namespace coset::calibration {

/// How many times as long a core stores into lines that another core has read last as it copies lines that the other has
/// written; medians of some trials. Nothing if it could not be found before the deadline. The calling thread is moved
/// meanwhile.
std::optional<double> stores_over_copies(unsigned one, unsigned other, std::chrono::steady_clock::time_point deadline);

/// told_of(machine), and what is measured between a few of the processors on which ranks will be, if the process may use
/// them: once per process and pair, about 1 ms, and 5 ms of waiting at most. Not where threads are not to be pinned
/// (COSET_BIND=no), and not where COSET_TUNING is off.
memory_facts memory_here(topology const& machine, std::vector<processor> const& places);

}  // namespace coset::calibration
