// SPDX-License-Identifier: Apache-2.0
// What the translation unit of each operation provides: its folds for each instruction set.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/kernels/kernels.hpp"

namespace coset::kernels {

/// Indexed by built_in_element; null where there is no kernel.
using element_sets = std::array<detail::fold_set const*, elements>;

struct operation_sets {
  element_sets cached;
  element_sets streaming;
  std::array<detail::mixed_fold_function, elements> mixed;
};

/// The folds compiled for the best of these targets, bits of Highway's HWY_TARGETS that this machine can run.
operation_sets const& plus_sets(std::int64_t targets);
operation_sets const& multiplies_sets(std::int64_t targets);
operation_sets const& minimum_sets(std::int64_t targets);
operation_sets const& maximum_sets(std::int64_t targets);
operation_sets const& bit_and_sets(std::int64_t targets);
operation_sets const& bit_or_sets(std::int64_t targets);
operation_sets const& bit_xor_sets(std::int64_t targets);
operation_sets const& reproducible_plus_sets(std::int64_t targets);

}  // namespace coset::kernels
