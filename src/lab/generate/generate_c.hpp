// SPDX-License-Identifier: Apache-2.0
// A tree's ring as a C routine over MPI that needs nothing of this library.
#pragma once

#include <string>

#include "planning/schedule/model/tree.hpp"

namespace coset::schedule {

/// `int tree_ring_allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm)`, a drop-in for MPI_Allreduce with a
/// commutative operation on a communicator of exactly of.ranks processes.
std::string tree_ring_routine(tree const& of);

}  // namespace coset::schedule
