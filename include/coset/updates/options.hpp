// SPDX-License-Identifier: Apache-2.0
// How the updates of a loop may reach their target.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <cstdint>

#include "coset/detail/bits.hpp"
#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {

/// The ways in which threads add into arrays. docs/reducer.md says what each costs and needs.
enum class way : std::uint8_t {
  chosen,          ///< by counts: the cheapest by the prices of `coset why scatter_add`
  one_thread,      ///< the plain loop, where there is too little to share
  owner_scan,      ///< each thread looks at all keys, and takes those of its own part of the target
  partition,       ///< threads sort updates by parts of the target that fit a cache, then each part is one thread's
  private_copies,  ///< each thread has an array of its own; all are folded into the target
  atomics          ///< each update is an atomic operation
};

struct scatter_options {
  way by = way::chosen;  ///< a way that is named is an order; argument_error where it cannot be obeyed
  /// one_thread, owner_scan and partition have the serial loop's bits, whatever the type and the operation.
  bits required = bits::same_on_all_ranks;
  /// Limit for the memory besides the target, in bytes, of all threads; 0: as much as the target, 64 MiB at least. A
  /// partition works through the updates in batches that fit, of a MiB at least; private copies are out of the question where
  /// they do not.
  std::size_t most_bytes = 0;
};

}  // namespace coset
