// SPDX-License-Identifier: Apache-2.0
// Persistent collectives: requests that begin the same call again and again.
#pragma once

#include <mpi.h>

#include "mpi/preload/call.hpp"

namespace coset::interpose {

/// A request that prepares and begins the call at each MPI_Start(), by a team that `lender` has lent. `tried`: the same call,
/// prepared.
int make_persistent(attachment& lender, attachment& lent, arguments const&, prepared& tried, MPI_Request* request);
/// Whether it is one of those; then what MPI_Start() returns.
bool begin_persistent(MPI_Request, int& code);
/// Of MPI_Request_free, which does the rest.
void forget_persistent(MPI_Request) noexcept;
/// The communicator is freed: none of its requests can be begun any more.
void part_from(attachment const&) noexcept;

/// Whether a request may be begun again that needs the handle.
bool is_operation_kept(MPI_Op) noexcept;
bool is_type_kept(MPI_Datatype) noexcept;

}  // namespace coset::interpose
