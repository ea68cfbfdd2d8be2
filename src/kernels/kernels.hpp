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

/// The folds of one operation and element type, for the instruction set in use.
///
/// Bits depend neither on the instruction set nor on alignment, count or how many sources one pass takes: folds go
/// strictly left to right and never contract. Integers wrap. minimum and maximum: NaN propagates as the canonical quiet
/// NaN, −0 < +0; one source is copied as it is. Nothing beyond the arrays is read or written.
/// Cost: one table look-up. Throws argument_error as long as COSET_ISA names no instruction set of this machine.
detail::fold_set const& find(operation, element);

/// The same folds storing past the caches, for results that exceed them. Slower for all others, and where destinations
/// are not equally aligned to cache lines they store as find()'s do. Each call ends with a store fence, so that a
/// release store after it publishes the results.
detail::fold_set const& find_streaming(operation, element);

/// The instruction set in use, "AVX3" say, and all that this machine can run, best first.
std::string instruction_set();
std::vector<std::string> instruction_sets();

/// Restricts what is found from now on to one of instruction_sets(); throws argument_error naming the possible ones.
/// COSET_ISA does the same at start. For tests and comparisons: not to be called beside any other function of this
/// header.
void force_instruction_set(std::string_view name);

}  // namespace coset::kernels
