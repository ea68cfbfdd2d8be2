// SPDX-License-Identifier: Apache-2.0
// A compiled schedule bound to a count and an element size: all that is left for the call are addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "planning/program/program.hpp"

namespace coset::program {

/// Where the pieces of a vector of `count` elements begin, in bytes, and how long its blocks are, in elements. Of a segment
/// of each rank's piece: blocks of different ranks lie side by side in staging, and apart in arrays.
struct layout {
  std::vector<std::size_t> offset;    ///< [piece] as operands have it, bytes
  std::vector<std::size_t> boundary;  ///< [block], elements; boundary[blocks] = count
  bool exchanges = false;             ///< staging that pairs exchange: every block has room for the longest
  std::size_t staging_bytes = 0;      ///< of one rank and parity, where the home is the team's pieces
};

/// How large an element is, and a partial result.
struct item_bytes {
  std::size_t element;
  std::size_t partial = element;
  /// What a program's staging has room for.
  std::size_t staged(compiled const& c) const { return c.wide ? std::max(element, partial) : element; }
};

/// Which elements of a vector are whose: a run for each rank, one after the other. Equal ones take no room.
class rank_pieces {
 public:
  /// Rank r's are [boundaries[r], boundaries[r + 1]).
  rank_pieces(std::vector<std::size_t> boundaries)  // NOLINT(google-explicit-constructor): that is what they are
      : ranks_(boundaries.size() - 1), boundaries_(std::move(boundaries)) {}
  static rank_pieces equal(rank_t ranks, std::size_t each) { return {ranks, each}; }

  std::size_t begin(std::size_t rank) const { return boundaries_.empty() ? rank * each_ : boundaries_[rank]; }
  std::size_t end(std::size_t rank) const { return begin(rank + 1); }
  std::size_t total() const { return begin(ranks_); }

 private:
  rank_pieces(rank_t ranks, std::size_t each) : ranks_(ranks), each_(each) {}

  std::size_t ranks_, each_ = 0;
  std::vector<std::size_t> boundaries_;  ///< in elements
};

/// Blocks begin at multiples of 64 bytes from index 0, never from the address, so that bits do not depend on where an
/// array lies; unless they are, on average, no longer than four times the shortest run of elements that ends at such a
/// multiple: that is four cache lines for elements of 4 or 8 bytes. Blocks may be empty. Staging layers begin on lines.
layout bind(compiled const&, std::size_t count, item_bytes);

/// The same where the caller says which elements are whose: that is where the schedule's r-th of P equal parts goes. Blocks
/// begin wherever they do in it.
layout bind(compiled const&, rank_pieces const&, item_bytes);

/// The same of the first elements of each piece alone, as many as in `segments`.
layout bind_segment(compiled const&, rank_pieces const& in_arrays, rank_pieces const& segments, item_bytes);

/// Blocks that are exchanged are moves of their own. By simulated caches of 16 and 64 ranks blocks of 32 and 64 B take 1.5 to 1.9 times
/// as long when each is, of 1 KiB 0.97 to 0.99 (`coset simulate reduce_scatter 512 4K 16K 64K --timing call`).
inline constexpr std::size_t least_exchanged = 1024;

/// Whether pairs gain by exchanging so many bytes of staging. `most`: what there is room for.
bool is_worth_exchanging(compiled const&, std::size_t bytes, std::size_t most);

/// Whether no instruction takes blocks of several ranks' pieces at once.
bool can_be_cut_by_piece(compiled const&);

/// A fold of callers' arrays that is as long as so many pieces can be shared: whoever has done its own does pieces of others'.
inline constexpr std::size_t shared_piece_bytes = 256 * 1024, least_shared_pieces = 4;
/// Whether every rank folds once, callers' arrays, knowing by then that all have entered: so anybody has what another's fold needs.
bool can_share_folds(compiled const&);
/// The one of such a rank.
instruction const& only_fold(program const&);

}  // namespace coset::program
