// SPDX-License-Identifier: Apache-2.0
// What ranks do with cache lines: the one form in which compiled programs and loops by hand are simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coset/error.hpp"

namespace coset::cache {

inline constexpr std::size_t line_bytes = 64;

/// Lines that are read and written together, so that they share one history: a block of an array, or one line. Lines of
/// flags come first.
struct cell {
  std::uint32_t lines;
  rank_t home;  ///< on whose node the memory is; it holds the lines to begin with
};

struct cell_range {
  std::uint32_t first, count;
};

enum class act_kind : std::uint8_t {
  look,   ///< until the line's value is no less than this
  post,   ///< the line's value becomes this
  count,  ///< an atomic increment; the last of all ranks posts the value to the line behind
  fold    ///< reads its sources and writes its destinations
};

struct act {
  act_kind what;
  bool streams = false;                                    ///< stores past the caches
  std::uint32_t line = 0;                                  ///< look, post, count
  std::int64_t value = 0;                                  ///< … beside what the operation begins with
  std::uint32_t first = 0, sources = 0, destinations = 0;  ///< of a fold: among the script's ranges
};

struct script {
  std::vector<act> acts;
  std::vector<cell_range> ranges;

  /// Sources, then destinations. Nothing where there is nothing to write or read.
  void fold(std::vector<cell_range> const& sources, std::vector<cell_range> const& destinations, bool streams = false);
};

/// One collective operation: scripts of all ranks.
struct work {
  std::uint32_t flags = 0;  ///< so many cells are lines of flags
  std::vector<cell> cells;
  /// [operation][rank], in turn: one for each parity, and both again where pairs exchange staging.
  std::vector<std::vector<script>> call;
  std::vector<script> writes_input, reads_output;  ///< [rank]: the caller's doing before and after a call
  std::int64_t span = 1;                           ///< by how much values advance with each operation
  std::uint64_t array_bytes = 0;                   ///< of one rank, that anybody touches
};

/// What scripts touch of arrays, on average over ranks. Bytes.
std::uint64_t bytes_touched(work const&);

}  // namespace coset::cache
