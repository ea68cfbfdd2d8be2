// SPDX-License-Identifier: Apache-2.0
// What a team is worth, and what it costs, as all processes of a communicator reckon alike.
#pragma once

#include <cstdint>

#include "mpi/preload/call.hpp"

namespace coset::interpose {

/// Nanoseconds that a team would save in a call. Only what MPI wants to be the same on all processes counts.
std::uint64_t saved_by_team(attachment const&, arguments const&) noexcept;
/// Whoever makes a persistent request means to start it often.
constexpr std::uint64_t starts_of_a_request = 1'000;

// Nanoseconds again. A team is made when the calls without one would have saved as much as it costs; so both together take no
// longer than twice what either would have taken alone.

/// An agreement on a team that there is.
constexpr std::uint64_t cost_of_asking = 8'000;
/// A team that uses what another one of the same communicator has.
constexpr std::uint64_t cost_of_another = 100'000;
/// A team with windows and communicators of its own.
constexpr std::uint64_t cost_of_the_first = 500'000;

}  // namespace coset::interpose
