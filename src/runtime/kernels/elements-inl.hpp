// SPDX-License-Identifier: Apache-2.0
// How elements become lanes: as they are, but for 16-bit floats, which become floats; included once per instruction set.
#if defined(COSET_KERNELS_ELEMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef COSET_KERNELS_ELEMENTS_INL
#undef COSET_KERNELS_ELEMENTS_INL
#else
#define COSET_KERNELS_ELEMENTS_INL
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "coset/float16.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Without vectors: lanes cannot be narrowed or widened then, so elements are converted one by one.
inline constexpr bool one_lane = HWY_TARGET == HWY_SCALAR;

/// Instructions that convert binary16, and round to nearest even.
inline constexpr bool converts_binary16 = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;

template <class T>
using lane_of = std::conditional_t<half_float<T>, float, T>;

/// The integer arithmetic of coset::detail::widened_binary16 and rounded_binary16, on lanes.
template <class Floats, class Integers>
HWY_INLINE hn::Vec<Floats> widen_binary16(Floats d, Integers u, hn::Vec<Integers> half) {
  auto const sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(u, 0x8000u)));
  auto const magnitude = hn::ShiftLeft<13>(hn::And(half, hn::Set(u, 0x7fffu)));
  auto const rebiased = hn::Add(magnitude, hn::Set(u, (127u - 15u) << 23));
  auto const subnormal = hn::Sub(hn::BitCast(d, hn::Add(rebiased, hn::Set(u, 1u << 23))), hn::Set(d, 0x1p-14f));
  auto const quiet = hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(u, 0x7c00u << 13)), hn::Set(u, 0x400000u));
  auto const special = hn::Or(hn::Or(magnitude, hn::Set(u, 0x7f800000u)), quiet);
  auto const is_special = hn::Gt(magnitude, hn::Set(u, (0x7c00u << 13) - 1));
  auto const is_normal = hn::Gt(magnitude, hn::Set(u, (1u << 23) - 1));
  auto const finite = hn::IfThenElse(is_normal, rebiased, hn::BitCast(u, subnormal));
  return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(is_special, special, finite)));
}

template <class Floats, class Integers>
HWY_INLINE hn::Vec<Integers> round_binary16(Floats d, Integers u, hn::Vec<Floats> value) {
  auto const bits = hn::BitCast(u, value);
  auto const magnitude = hn::And(bits, hn::Set(u, 0x7fffffffu));
  auto const sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 0x8000u));
  auto const nan = hn::Or(hn::Set(u, 0x7e00u), hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u, 0x3ffu)));
  auto const special = hn::IfThenElse(hn::Gt(magnitude, hn::Set(u, 0x7f800000u)), nan, hn::Set(u, 0x7c00u));
  auto const shifted = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
  auto const subnormal = hn::Sub(hn::BitCast(u, shifted), hn::Set(u, 0x3f000000u));
  auto const odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u, 1u));
  auto const rounding = hn::Add(odd, hn::Set(u, 0xfffu - ((127u - 15u) << 23)));
  auto const normal = hn::ShiftRight<13>(hn::Add(magnitude, rounding));
  auto const finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u, 0x38800000u)), subnormal, normal);
  auto const is_special = hn::Gt(magnitude, hn::Set(u, 0x477fffffu));
  return hn::Or(sign, hn::IfThenElse(is_special, special, finite));
}

template <class Floats, class Integers>
HWY_INLINE hn::Vec<Integers> round_bfloat16(Floats, Integers u, hn::Vec<Floats> value) {
  auto const bits = hn::BitCast(u, value);
  auto const high = hn::ShiftRight<16>(bits);
  auto const odd = hn::And(high, hn::Set(u, 1u));
  auto const rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(u, 0x7fffu))));
  auto const is_nan = hn::Gt(hn::And(bits, hn::Set(u, 0x7fffffffu)), hn::Set(u, 0x7f800000u));
  return hn::IfThenElse(is_nan, hn::Or(high, hn::Set(u, 0x40u)), rounded);
}

/// The lanes of elements from `at` on; one full vector or less.
template <class Tag, class T>
HWY_INLINE hn::Vec<Tag> load_lanes(Tag d, T const* at) {
  if constexpr (!half_float<T>) {
    return hn::LoadU(d, at);
  } else if constexpr (one_lane) {
    return hn::Set(d, static_cast<float>(*at));
  } else if constexpr (std::is_same_v<T, float16> && converts_binary16) {
    hn::Rebind<hwy::float16_t, Tag> const half;
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<hwy::float16_t const*>(at)));
  } else {
    hn::RebindToUnsigned<Tag> const u;
    hn::Rebind<std::uint16_t, Tag> const half;
    auto const bits = hn::PromoteTo(u, hn::LoadU(half, reinterpret_cast<std::uint16_t const*>(at)));
    if constexpr (std::is_same_v<T, bfloat16>) {
      return hn::BitCast(d, hn::ShiftLeft<16>(bits));
    } else {
      return widen_binary16(d, u, bits);
    }
  }
}

/// Back to elements, rounded to nearest even where these are narrower.
template <class Tag, class T>
HWY_INLINE void store_lanes(hn::Vec<Tag> value, Tag d, T* to) {
  if constexpr (!half_float<T>) {
    hn::StoreU(value, d, to);
  } else if constexpr (one_lane) {
    *to = T(hn::GetLane(value));
  } else if constexpr (std::is_same_v<T, float16> && converts_binary16) {
    hn::Rebind<hwy::float16_t, Tag> const half;
    hn::StoreU(hn::DemoteTo(half, value), half, reinterpret_cast<hwy::float16_t*>(to));
  } else {
    hn::RebindToUnsigned<Tag> const u;
    hn::RebindToSigned<Tag> const wide;
    hn::Rebind<std::uint16_t, Tag> const half;
    auto const bits = [&] {
      if constexpr (std::is_same_v<T, bfloat16>) {
        return round_bfloat16(d, u, value);
      } else {
        return round_binary16(d, u, value);
      }
    }();
    // Below 2^16, so that saturation does nothing.
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(wide, bits)), half, reinterpret_cast<std::uint16_t*>(to));
  }
}

}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
