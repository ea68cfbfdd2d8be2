// SPDX-License-Identifier: Apache-2.0
// What the layer knows of MPI's datatypes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>

#include "coset/coset.h"

namespace coset::interpose {

/// MPI's groups of predefined datatypes, by which it allows operations (MPI 4.0, section 6.9.2).
enum class group : unsigned char {
  derived,
  integer,
  fortran_integer,
  floating,
  logical,
  fortran_logical,
  complex,
  byte,
  multi_language,
  pair,
  other
};

struct datatype {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  group of = group::derived;
  coset_type native = 0;  ///< the elements of coset.h that are the same; 0: none are
  std::size_t size = 0;   ///< bytes of data in an element
  MPI_Aint lower = 0;     ///< where its first byte is, from its address
  MPI_Aint span = 0;      ///< from there to its last
  MPI_Aint extent = 0;    ///< from one element to the next
  MPI_Aint stride = 0;    ///< the same where this layer copies elements that interleave or run backwards
  bool too_long = false;  ///< one element has more than MPI_Pack() can count
  bool dense = false;     ///< any number of elements lies in memory as MPI_Pack() puts it, and begins at its address
};

/// nullptr for handles that are no datatypes, and for those that nobody has committed: MPI will say so. What is known of
/// derived ones is kept as their attribute and ends with them.
datatype const* known(MPI_Datatype) noexcept;

/// One that never ends.
bool is_predefined(MPI_Datatype) noexcept;

/// Calls with each predefined one.
void for_each_predefined(std::function<void(datatype const&)> const&);

/// After MPI_Init, and before MPI_Finalize.
void learn_datatypes();
void forget_datatypes() noexcept;

}  // namespace coset::interpose
