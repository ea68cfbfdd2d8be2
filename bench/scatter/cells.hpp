// SPDX-License-Identifier: Apache-2.0
// The cells of the benchmark of scatters: how long the array is, how often it is touched, and where.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coset::measure {

/// Where the keys of a loop lie.
enum class distribution {
  uniform,  ///< anywhere, at random
  zipf,     ///< at random, the k-th element with a chance of about 1/k
  window,   ///< at random in a contiguous hundredth
  sorted,   ///< anywhere, in ascending order
  grouped   ///< at random, but each thread's share of the loop in the same share of the array
};

enum class element {
  f64,  ///< doubles, to which values are added
  u32   ///< 4-byte integers that count, without values
};

struct cell {
  std::size_t length = 0;
  std::size_t updates = 0;
  double per_element = 0;  ///< updates, but for rounding
  distribution keys = distribution::uniform;
  element type = element::f64;

  std::size_t bytes() const { return length * (type == element::f64 ? 8 : 4); }
  /// As --cell takes it.
  std::string name() const;
};

std::string_view name_of(distribution);

/// From "64Mi:0.01:window:f64": length, updates per element, keys, elements. The last two may be left out. Throws
/// argument_error.
cell cell_from(std::string_view text);

/// All lengths, updates per element and distributions; with `huge` 256 Mi elements of 4 bytes as well.
std::vector<cell> grid_cells(bool huge);
/// Those of docs/reducer.md.
std::vector<cell> document_cells();
/// A few small ones, to see whether everything works.
std::vector<cell> smoke_cells();

}  // namespace coset::measure
