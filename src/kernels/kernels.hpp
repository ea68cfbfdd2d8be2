// SPDX-License-Identifier: Apache-2.0
// Vectorised folds: one table of (operation, element type), bound once to the best instruction set of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coset/detail/fold.hpp"

namespace coset::kernels {

enum class operation : std::uint8_t { plus, multiplies, minimum, maximum };
enum class element : std::uint8_t { int32, int64, float32, float64 };

/// The folds of one operation and element type. Never fails for the enumerators above; cost: one table look-up.
detail::fold_set const& find(operation, element) noexcept;

/// The instruction set in use, "AVX3_ZEN4" say, and all that this machine can run, best first.
std::string instruction_set();
std::vector<std::string> instruction_sets();

/// Restricts dispatch to one of instruction_sets(); throws argument_error naming the possible ones. COSET_ISA does the
/// same at start. For tests and comparisons: not to be called while a collective runs.
void force_instruction_set(std::string_view name);

}  // namespace coset::kernels
