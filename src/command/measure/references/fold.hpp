// SPDX-License-Identifier: Apache-2.0
// The rivals' arithmetic, as a careful user writes it: one fused pass over up to eight inputs, vectorised.
#pragma once

#include "command/measure/harness/workload.hpp"

namespace coset::measure {

/// Folds items [begin, end) of `sources` arrays into the same items of `to`, which may be the first of them.
using fold_function = void (*)(void* to, void const* const* from, rank_t sources, std::size_t begin, std::size_t end);

/// Compiled for the widest vectors of this processor.
fold_function fold_for(element_kind, operation_kind);

/// Items [begin, end) that are rank `rank`'s share of `count`: whole cache lines where there are enough.
struct slice {
  std::size_t begin, end;
};
slice slice_of(std::size_t count, rank_t ranks, rank_t rank);

}  // namespace coset::measure
