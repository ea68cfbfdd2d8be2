// SPDX-License-Identifier: Apache-2.0
// Vectorised folds: one table of (operation, element type), bound once to the best instruction set of this machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coset/detail/reduction.hpp"

namespace coset::kernels {

using operation = detail::built_in_operation;
using element = detail::built_in_element;
inline constexpr std::size_t operations = 8, elements = 14;

/// The folds of one operation and element type that has_kernel(), for the instruction set in use.
///
/// Bits depend neither on the instruction set nor on alignment, count or how many sources one pass takes: folds go
/// strictly left to right and never contract; sums and products of 16-bit floats are floats until they are rounded in the
/// end, reproducible ones are whole numbers of each bin's unit. Integers wrap. minimum and maximum: NaN propagates as the canonical quiet
/// NaN, −0 < +0; one source is copied as it is. Nothing beyond the arrays is read or written.
/// Cost: one table look-up. Throws argument_error as long as COSET_ISA names no instruction set of this machine.
detail::fold_set const& find(operation, element);

/// The same folds storing past the caches, for results that exceed them; null where there are none. Slower for all others, and where destinations
/// are not equally aligned to cache lines they store as find()'s do. Each call ends with a store fence, so that a
/// release store after it publishes the results.
detail::fold_set const* find_streaming(operation, element);

/// Where partial results are wider than elements: folds of both; otherwise null.
detail::mixed_fold_function find_mixed(operation, element);

/// The instruction set in use, "AVX3" say, and all that this machine can run, best first.
std::string instruction_set();
std::vector<std::string> instruction_sets();

/// Restricts what is found from now on to one of instruction_sets(); throws argument_error naming the possible ones.
/// COSET_ISA does the same at start. For tests and comparisons: not to be called beside any other function of this
/// header.
void force_instruction_set(std::string_view name);

}  // namespace coset::kernels
