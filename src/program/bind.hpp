// SPDX-License-Identifier: Apache-2.0
// A compiled schedule bound to a count and an element size: all that is left for the call are addresses.
#pragma once

#include <cstddef>
#include <vector>

#include <algorithm>

#include "program/program.hpp"

namespace coset::program {

/// Where the pieces of a vector of `count` elements begin, in bytes, and how long its blocks are, in elements.
struct layout {
  std::vector<std::size_t> offset;    ///< [piece] as operands have it, bytes
  std::vector<std::size_t> boundary;  ///< [block], elements; boundary[blocks] = count
  std::size_t staging_bytes = 0;      ///< of one rank and parity, where the home is the team's pieces
};

/// How large an element is, and a partial result.
struct item_bytes {
  std::size_t element;
  std::size_t partial = element;
  /// What a program's staging has room for.
  std::size_t staged(compiled const& c) const { return c.wide ? std::max(element, partial) : element; }
};

/// Blocks begin at multiples of 64 bytes from index 0, never from the address, so that bits do not depend on where an
/// array lies; unless they are, on average, no longer than four times the shortest run of elements that ends at such a
/// multiple: that is four cache lines for elements of 4 or 8 bytes. Blocks may be empty. Staging layers begin on lines.
layout bind(compiled const&, std::size_t count, item_bytes);

/// The same where the caller says which elements are whose: rank r's are [pieces[r], pieces[r + 1]), and that is where
/// the schedule's r-th of P equal parts goes. For schedules none of whose blocks spans several of these parts.
layout bind(compiled const&, std::vector<std::size_t> const& pieces, item_bytes);

}  // namespace coset::program
