// SPDX-License-Identifier: Apache-2.0
// Pieces of lengths that no compiler knows: copied before a barrier.
#pragma once

#include <cstddef>

#include "planning/program/bind.hpp"

namespace coset::program {

/// A barrier before which one rank copies pieces that lie anywhere in its process, and whose layout that rank fills anew for
/// each call. Its k-th piece is of the k-th rank before it, whose input is where addresses begin, nullptr.
struct fetching {
  compiled code;  ///< without the programs of other ranks
  layout places;
  std::size_t first_place;  ///< in places.offset: of the sources, then the destinations in the output
  std::size_t first_block;  ///< in places.boundary

  fetching(compiled const& barrier, layout const& of_barrier, rank_t rank, rank_t pieces);
};

}  // namespace coset::program
