// SPDX-License-Identifier: Apache-2.0
// The storages among which is chosen, units of sizes, and when prices are equal.
#pragma once

#include <cstddef>

#include "planning/program/program.hpp"

namespace coset::choice {

/// Prices that differ by less are equal, whatever the compiler makes of their sums: the one that stands first is taken.
inline constexpr double equal_within = 1e-6;

inline constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

/// Whole arrays are read at once only while all fit first caches.
inline constexpr std::size_t most_at_once = 32 * kibibyte;

inline constexpr program::policy staged{program::area::staging, program::area::staging, program::copies::forward};
inline constexpr program::policy zero_copy{program::area::input, program::area::output, program::copies::forward};
inline constexpr program::policy through_outputs{program::area::output, program::area::output,
                                                 program::copies::forward};
/// The root of a gather fetches what else its owners would store into its array.
inline constexpr program::policy zero_copy_pull{program::area::input, program::area::output, program::copies::pull};
/// Owners store what its readers else would fetch; the root of a broadcast to one rank half of it.
inline constexpr program::policy zero_copy_store{program::area::input, program::area::output, program::copies::store};
/// Everybody reads everybody's copy and folds alone.
inline constexpr program::policy eager{program::area::staging, program::area::staging, program::copies::pull};
/// What others fold is staged, and folded where all will read it; of a few bytes one rank folds what others' lines bring.
inline constexpr program::policy staged_in{program::area::staging, program::area::output, program::copies::forward};

/// The same, but results are stored past the caches.
constexpr program::policy streaming(program::policy p) {
  p.streams = true;
  return p;
}

/// The same, but lines of staging go back to their owner.
constexpr program::policy returning(program::policy p) {
  p.returns = true;
  return p;
}

}  // namespace coset::choice
