// SPDX-License-Identifier: Apache-2.0
// Finds the entry of one instruction set in a table that HWY_EXPORT made.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hwy/targets.h"

namespace coset::kernels {

/// HWY_DYNAMIC_DISPATCH takes the target from a global of Highway's, which the program may use for kernels of its own.
template <class Function, std::size_t Size>
Function entry_for(std::int64_t target, Function const (&table)[Size]) {
  if constexpr (Size == 1) {
    return table[0];  // compiled for one target only
  } else {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    return table[chosen.GetIndex()];
  }
}

}  // namespace coset::kernels
