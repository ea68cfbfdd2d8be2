// SPDX-License-Identifier: Apache-2.0
// How arrays are cut into cells: by block where blocks are whole lines, else line by line, as blocks share lines then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lab/cache/machine.hpp"
#include "lab/cache/script.hpp"

namespace coset::cache {

inline std::uint32_t lines_of(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + line_bytes - 1) / line_bytes);
}

/// Appends an array of so many lines, each a cell of its own; returns the first.
inline std::uint32_t add_lines(std::vector<cell>& cells, std::size_t bytes, rank_t home) {
  auto const first = static_cast<std::uint32_t>(cells.size());
  cells.resize(cells.size() + lines_of(bytes), {1, home});
  return first;
}

/// The lines of [begin, end) bytes of an array whose lines are cells from `first` on.
inline std::optional<cell_range> lines_between(std::uint32_t first, std::size_t begin, std::size_t end) {
  if (end <= begin) return std::nullopt;
  auto const from = static_cast<std::uint32_t>(begin / line_bytes);
  return cell_range{first + from, lines_of(end) - from};
}

}  // namespace coset::cache
