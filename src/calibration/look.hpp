// SPDX-License-Identifier: Apache-2.0
// A quick measurement of the machine's memory when a team is made: machines do not report it, virtual ones wrongly.
#pragma once

#include <chrono>
#include <optional>

#include "calibration/memory_facts.hpp"

namespace coset::calibration {

/// The time to store into lines that another core has read last, over the time to copy lines that the other has
/// written; medians of some trials. Empty if the deadline passes first. The calling thread is moved meanwhile.
std::optional<double> stores_over_copies(unsigned one, unsigned other, std::chrono::steady_clock::time_point deadline);

/// told_of(machine), and what is measured between a few of the processors on which ranks will be, if the process may use
/// them: once per process and pair, about 1 ms, and 5 ms of waiting at most. Not where threads are not to be pinned
/// (COSET_BIND=no), and not where COSET_TUNING is off.
memory_facts memory_here(topology const& machine, std::vector<processor> const& places);

}  // namespace coset::calibration
