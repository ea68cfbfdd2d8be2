// SPDX-License-Identifier: Apache-2.0
// Folds whose partial results are wider than their elements; included once per instruction set.
#if defined(COSET_KERNELS_WIDENING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef COSET_KERNELS_WIDENING_INL
#undef COSET_KERNELS_WIDENING_INL
#else
#define COSET_KERNELS_WIDENING_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {

/// Sums and products of 16-bit floats have floats for partial results and are rounded once, at their end.
template <class Operation, class T>
class widening_fold {
 public:
  /// A mixed_fold_function.
  static void mixed(void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t sources,
                    detail::form const* forms, std::size_t count) {
    run(
        to, destinations, from, sources, [forms](std::uint32_t array) { return forms[array]; }, count);
  }

  /// A fold_function.
  static void of_elements(void const*, void* const* to, std::uint32_t destinations, void const* const* from,
                          std::uint32_t sources, std::size_t count) {
    run(
        to, destinations, from, sources, [](std::uint32_t) { return detail::form::element; }, count);
  }

 private:
  static constexpr std::size_t elements = 1024;

  template <class FormOf>
  static void run(void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t sources,
                  FormOf form_of, std::size_t count) {
    alignas(line_bytes) float tile[elements];
    for (std::size_t done = 0; done < count; done += elements) {
      std::size_t const length = std::min(elements, count - done);
      for (std::uint32_t s = 0; s < sources; ++s) join(tile, from[s], form_of(s), done, length, s == 0);
      for (std::uint32_t d = 0; d < destinations; ++d) finish(tile, to[d], form_of(sources + d), done, length);
    }
  }

  static void join(float* tile, void const* from, detail::form what, std::size_t at, std::size_t count, bool is_first) {
    if (what == detail::form::partial) {
      join(tile, static_cast<float const*>(from) + at, count, is_first);
    } else {
      join(tile, static_cast<T const*>(from) + at, count, is_first);
    }
  }

  template <class From>
  static HWY_NOINLINE void join(float* tile, From const* from, std::size_t count, bool is_first) {
    if (is_first) {
      for_blocks(count, [=](auto d, std::size_t i) HWY_ATTR { hn::StoreU(load_lanes(d, from + i), d, tile + i); });
    } else {
      for_blocks(count, [=](auto d, std::size_t i) HWY_ATTR {
        hn::StoreU(Operation::combine(d, hn::LoadU(d, tile + i), load_lanes(d, from + i)), d, tile + i);
      });
    }
  }

  static void finish(float const* tile, void* to, detail::form what, std::size_t at, std::size_t count) {
    if (what == detail::form::partial) {
      std::memcpy(static_cast<float*>(to) + at, tile, count * sizeof(float));
    } else {
      finish(tile, static_cast<T*>(to) + at, count);
    }
  }

  static HWY_NOINLINE void finish(float const* tile, T* to, std::size_t count) {
    for_blocks(count, [=](auto d, std::size_t i) HWY_ATTR { store_lanes(hn::LoadU(d, tile + i), d, to + i); });
  }

  /// visit(d, i) for vectors that cover `count` floats.
  template <class Visit>
  static HWY_INLINE void for_blocks(std::size_t count, Visit visit) {
    hn::CappedTag<float, line_elements<float>> const d;
    std::size_t i = 0;
    for (; count - i >= hn::Lanes(d); i += hn::Lanes(d)) visit(d, i);
    hn::CappedTag<float, 1> const one;
    for (; i < count; ++i) visit(one, i);
  }
};

}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
