// SPDX-License-Identifier: Apache-2.0
// What the kinds of `coset bench` have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/measure/harness/rounds.hpp"
#include "command/measuring.hpp"

namespace coset::cli {

/// Lets the players take turns at a verb of so many bytes, and shows how far they are. Verbs that take pieces get a multiple of
/// the ranks. Throws interrupted.
measure::measurement play_size(bench_arguments const&, std::uint64_t bytes,
                               std::vector<measure::contestant*> const& players, measure::latency_probe&, rank_t ranks);

/// The families of rivals that were asked for, or all that are there; none without the lab.
std::vector<std::string> rivals_named(std::vector<std::string> const& named);

}  // namespace coset::cli
