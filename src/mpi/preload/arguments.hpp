// SPDX-License-Identifier: Apache-2.0
// A collective as a program calls it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "coset/verbs/verb.hpp"

namespace coset::interpose {

using coset::verb;

/// Where each rank's piece is, in either width of MPI's; the caller's arrays.
struct pieces {
  int const* counts = nullptr;
  MPI_Count const* long_counts = nullptr;
  int const* places = nullptr;
  MPI_Aint const* long_places = nullptr;

  /// Of a gather or scatter, once its root has told the others: bytes, in the team's order.
  std::vector<std::size_t> const* told = nullptr;

  bool have_counts() const noexcept { return counts != nullptr || long_counts != nullptr; }
  bool have_places() const noexcept { return places != nullptr || long_places != nullptr; }
  MPI_Count count_of(int rank) const { return counts != nullptr ? counts[rank] : long_counts[rank]; }
  MPI_Aint place_of(int rank) const { return places != nullptr ? places[rank] : long_places[rank]; }
};

/// MPI's arguments. Arrays are the caller's.
struct arguments {
  verb what;
  void const* in = nullptr;
  void* out = nullptr;
  MPI_Count count = 0;  ///< of elements to send; where pieces are equal, of one piece
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Count out_count = 0;  ///< of what only moves, as `count`
  MPI_Datatype out_type = MPI_DATATYPE_NULL;
  MPI_Op operation = MPI_OP_NULL;
  int root = 0;
  MPI_Comm communicator = MPI_COMM_NULL;
  bool varies = false;   ///< each rank has a count of its own
  pieces of_ranks = {};  ///< these, and the places of what only moves; of a gather or scatter on the root alone
};

}  // namespace coset::interpose
