// SPDX-License-Identifier: Apache-2.0
// What the layer did: which calls its teams carried out, and which it left to MPI, and why.
#pragma once

#include <mpi.h>

#include "mpi/preload/call.hpp"

namespace coset::interpose {

/// COSET_INTERPOSE_REQUIRE=1.
bool is_required() noexcept;
/// Another process has it: all decide alike.
void require_all() noexcept;

/// COSET_LOG=mpi.
bool is_logged() noexcept;

void count_carried_out(arguments const&) noexcept;
/// Counts it. COSET_INTERPOSE_REQUIRE=1 makes it an error of the communicator instead.
bool may_be_left_to_mpi(arguments const&, form, char const* why) noexcept;

void count_team_made() noexcept;
/// One that another communicator of the same processes had.
void count_team_taken_again() noexcept;

/// If it is logged: words on standard error, the same only once.
void log_once(char const* words) noexcept;
/// The same: a summary by process 0 of its own calls, before MPI_Finalize.
void log_summary() noexcept;

}  // namespace coset::interpose
