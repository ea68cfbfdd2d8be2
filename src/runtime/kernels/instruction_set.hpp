// SPDX-License-Identifier: Apache-2.0
// A function's table of instruction sets, and the entry of one of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hwy/targets.h"

namespace coset::kernels {

/// The table that HWY_EXPORT would make, without its first entry, which chooses: that needs Highway's library, and takes the target
/// from a global of it, which the program may use for kernels of its own.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define COSET_TABLE_OF(function) \
  { &HWY_STATIC_DISPATCH(function) }
#else
#define COSET_TABLE_OF(function) \
  { nullptr, HWY_CHOOSE_TARGET_LIST(function), HWY_CHOOSE_FALLBACK(function) }
#endif

/// That of the best of these targets, bits of Highway's, that the table has: some operations are compiled for fewer of them.
template <class Function, std::size_t Size>
Function entry_for(std::int64_t targets, Function const (&table)[Size]) {
  if constexpr (Size == 1) {
    return table[0];  // compiled for one target only
  } else {
    hwy::ChosenTarget chosen;
    chosen.Update(targets);
    return table[chosen.GetIndex()];
  }
}

}  // namespace coset::kernels
