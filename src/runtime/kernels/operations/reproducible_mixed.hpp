// SPDX-License-Identifier: Apache-2.0
// Reproducible sums of elements and of binned sums that crossed a step, one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coset/binned.hpp"
#include "coset/detail/fold.hpp"

namespace coset::kernels {

/// A mixed_fold_function whose partial results are binned sums.
template <class T>
void mixed_reproducible_fold(void* const* to, std::uint32_t destinations, void const* const* from,
                             std::uint32_t sources, detail::form const* forms, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    detail::binned_sum sum;
    for (std::uint32_t s = 0; s < sources; ++s) {
      if (forms[s] == detail::form::element) {
        add(sum, std::span(static_cast<T const*>(from[s]) + i, 1));
      } else {
        add(sum, static_cast<detail::binned_sum const*>(from[s])[i]);
      }
    }
    for (std::uint32_t d = 0; d < destinations; ++d) {
      if (forms[sources + d] == detail::form::element) {
        static_cast<T*>(to[d])[i] = detail::rounded<T>(sum);
      } else {
        static_cast<detail::binned_sum*>(to[d])[i] = sum;
      }
    }
  }
}

}  // namespace coset::kernels
