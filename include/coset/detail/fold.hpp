// SPDX-License-Identifier: Apache-2.0
// The boundary at which element types are erased: above it verbs are typed, below it a reduction is this table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace coset::detail {

/// Folds `sources` arrays left to right into each of `destinations` arrays, `count` elements of them.
///
/// A destination is one of the sources or overlaps none of them; alignment is that of the element type at least.
/// `context` is the user's operation where there is one. One source is a copy.
using fold_function = void (*)(void const* context, void* const* to, std::uint32_t destinations,
                               void const* const* from, std::uint32_t sources, std::size_t count);

/// Up to this many sources are folded by a function made for exactly that number, in one pass where that pays.
inline constexpr std::uint32_t max_fused_sources = 16;

/// One (operation, element type) on the instruction set of this machine.
struct fold_set {
  fold_function any;                                    ///< any number of sources >= 1
  std::array<fold_function, max_fused_sources + 1> of;  ///< of[k]: exactly k sources; of[0] is `any`

  fold_function for_sources(std::uint32_t sources) const noexcept {
    return sources <= max_fused_sources ? of[sources] : any;
  }
};

/// What an array of a fold holds: elements or, where partial results are wider than those, partial results.
enum class form : std::uint8_t { element, partial };

/// Folds arrays of either form; the forms of the destinations follow those of the sources. Otherwise as fold_function.
using mixed_fold_function = void (*)(void* const* to, std::uint32_t destinations, void const* const* from,
                                     std::uint32_t sources, form const* forms, std::size_t count);

}  // namespace coset::detail
