// SPDX-License-Identifier: Apache-2.0
// The boundary that erases element types: above it verbs are typed, below it a reduction is this table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coset/detail/abi.hpp"

namespace coset::inline COSET_ABI::detail {

/// Folds `sources` arrays left to right into each of `destinations` arrays, `count` elements of them.
///
/// A destination is one of the sources or overlaps none of them. Arrays are aligned at least as the element type
/// requires. `context` is the user's operation if there is one. With one source it copies.
using fold_function = void (*)(void const* context, void* const* to, std::uint32_t destinations,
                               void const* const* from, std::uint32_t sources, std::size_t count);

/// Up to this many sources are folded by a function for exactly that number, in one pass where that pays.
inline constexpr std::uint32_t max_fused_sources = 16;

/// The folds of one (operation, element type) on the instruction set of this machine.
struct fold_set {
  fold_function any;                                    ///< any number of sources >= 1
  std::array<fold_function, max_fused_sources + 1> of;  ///< of[k]: exactly k sources; of[0] is `any`

  fold_function for_sources(std::uint32_t sources) const noexcept {
    return sources <= max_fused_sources ? of[sources] : any;
  }
};

/// Whether an array of a fold holds elements or, where these are wider than elements, partial results.
enum class form : std::uint8_t { element, partial };

/// Folds arrays of either form; the sources' forms determine those of the destinations. Otherwise as fold_function.
using mixed_fold_function = void (*)(void* const* to, std::uint32_t destinations, void const* const* from,
                                     std::uint32_t sources, form const* forms, std::size_t count);

}  // namespace coset::detail
