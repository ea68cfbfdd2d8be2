// SPDX-License-Identifier: Apache-2.0
// Which results must agree bit for bit.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstdint>

#include "coset/detail/abi.hpp"

namespace coset::inline COSET_ABI {

/// What a caller asks of a collective's plan, and of a loop of updates (scatter_add).
enum class bits : std::uint8_t {
  /// Refuses plans whose ranks bracket differently if the operation is inexact. A loop of updates has the same bits on every
  /// run with as many threads.
  same_on_all_ranks,
  per_rank,  ///< any valid plan; a loop of updates in any order, which may differ from run to run: atomics
  serial     ///< a loop of updates has the bits of one thread's loop. Plans refuse it
};

}  // namespace coset
