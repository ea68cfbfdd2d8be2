// SPDX-License-Identifier: Apache-2.0
// The element-wise operations on vectors of any width, one lane included; included once per instruction set.
#if defined(COSET_KERNELS_OPERATIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef COSET_KERNELS_OPERATIONS_INL
#undef COSET_KERNELS_OPERATIONS_INL
#else
#define COSET_KERNELS_OPERATIONS_INL
#endif

#include <cstdint>
#include <limits>
#include <type_traits>

#include "coset/detail/reduction.hpp"
#include "hwy/highway.h"
#include "runtime/kernels/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// An operation on folds: leave(combine(… combine(enter(s0), enter(s1)) …)). Most enter and leave unchanged. Up to
/// `most_fused` sources are folded in one pass, fewer of elements that are rarely used.
struct unchanged {
  static constexpr bool streams = true;  ///< past the caches too, where elements are often used
  static constexpr bool widens = false;  ///< partial results of 16-bit floats are floats
  static constexpr std::uint32_t most_fused = detail::max_fused_sources;
  template <class Vector>
  static HWY_INLINE Vector enter(Vector value) {
    return value;
  }
  template <class Tag, class Vector>
  static HWY_INLINE Vector leave(Tag, Vector value) {
    return value;
  }
};

struct plus : unchanged {
  static constexpr auto name = detail::built_in_operation::plus;
  static constexpr bool widens = true;
  template <class Tag, class Vector>
  static HWY_INLINE Vector combine(Tag, Vector a, Vector b) {
    return hn::Add(a, b);
  }
};

struct bit_and : unchanged {
  static constexpr auto name = detail::built_in_operation::bit_and;
  static constexpr bool streams = false;
  template <class Tag, class Vector>
  static HWY_INLINE Vector combine(Tag, Vector a, Vector b) {
    return hn::And(a, b);
  }
};
struct bit_or : unchanged {
  static constexpr auto name = detail::built_in_operation::bit_or;
  static constexpr bool streams = false;
  template <class Tag, class Vector>
  static HWY_INLINE Vector combine(Tag, Vector a, Vector b) {
    return hn::Or(a, b);
  }
};
struct bit_xor : unchanged {
  static constexpr auto name = detail::built_in_operation::bit_xor;
  static constexpr bool streams = false;
  template <class Tag, class Vector>
  static HWY_INLINE Vector combine(Tag, Vector a, Vector b) {
    return hn::Xor(a, b);
  }
};

/// The low 64 bits of 64-bit products, from 32-bit ones: no vector instruction before AVX-512 does it.
template <class Tag, class Vector>
HWY_INLINE Vector multiply_64(Tag d, Vector a, Vector b) {
  hn::Repartition<std::uint32_t, Tag> const halves;
  hn::RebindToUnsigned<Tag> const u;
  auto const low_a = hn::BitCast(halves, a);
  auto const low_b = hn::BitCast(halves, b);
  auto const high_a = hn::BitCast(halves, hn::ShiftRight<32>(hn::BitCast(u, a)));
  auto const high_b = hn::BitCast(halves, hn::ShiftRight<32>(hn::BitCast(u, b)));
  auto const crossed = hn::Add(hn::MulEven(low_a, high_b), hn::MulEven(high_a, low_b));
  return hn::BitCast(d, hn::Add(hn::MulEven(low_a, low_b), hn::ShiftLeft<32>(crossed)));
}

struct multiplies : unchanged {
  static constexpr auto name = detail::built_in_operation::multiplies;
  static constexpr bool widens = true;
  static constexpr std::uint32_t most_fused = 4;  // rarely asked for: compile time
  template <class Tag, class Vector>
  static HWY_INLINE Vector combine(Tag d, Vector a, Vector b) {
    using element_type = hn::TFromD<Tag>;
    if constexpr (std::is_floating_point_v<element_type>) {
      return hn::Mul(a, b);
    } else if constexpr (one_lane) {
      using bits = std::make_unsigned_t<element_type>;  // signed overflow is undefined, wrapping is wanted
      auto const product = static_cast<bits>(hn::GetLane(a)) * static_cast<bits>(hn::GetLane(b));
      return hn::Set(d, static_cast<element_type>(product));
    } else if constexpr (sizeof(element_type) == 8) {
      return multiply_64(d, a, b);
    } else {
      return hn::Mul(a, b);
    }
  }
};

/// The lesser of both; where a lane is a NaN or both are equal, either.
template <class Tag, class Vector>
HWY_INLINE Vector lesser(Tag, Vector a, Vector b) {
  // Min may be used where it yields a NaN for at least one order of the operands: on x86 it yields the second. Elsewhere
  // it may drop the NaN, as on Arm, where Highway takes FMINNM; a comparison does not.
  constexpr bool min_keeps_nan = !one_lane && HWY_ARCH_X86;
  if constexpr (min_keeps_nan || !std::is_floating_point_v<hn::TFromD<Tag>>) {
    return hn::Min(a, b);
  } else {
    return hn::IfThenElse(hn::Lt(a, b), a, b);
  }
}

/// IEEE 754-2019 minimum: NaN propagates, as the canonical quiet NaN once the fold leaves; −0 < +0.
struct minimum : unchanged {
  static constexpr auto name = detail::built_in_operation::minimum;
  static constexpr std::uint32_t most_fused = 8;  // compile time
  template <class Tag, class Vector>
  static HWY_INLINE Vector combine(Tag d, Vector a, Vector b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<Tag>>) {
      // Both orders agree on ordinary numbers, and x | x = x. They differ on −0 and +0, which give −0, and if one is a
      // NaN, which gives a NaN: its exponent and a bit of its mantissa stay set.
      return hn::Or(lesser(d, a, b), lesser(d, b, a));
    } else {
      return hn::Min(a, b);
    }
  }
  template <class Tag, class Vector>
  static HWY_INLINE Vector leave(Tag d, Vector value) {
    using element_type = hn::TFromD<Tag>;
    if constexpr (std::is_floating_point_v<element_type>) {
      auto const canonical = hn::Set(d, std::numeric_limits<element_type>::quiet_NaN());
      return hn::IfThenElse(hn::IsNaN(value), canonical, value);
    } else {
      return value;
    }
  }
};

/// max(a, b) = −min(−a, −b): floats enter and leave negated, so that the OR above serves both.
struct maximum : unchanged {
  static constexpr auto name = detail::built_in_operation::maximum;
  static constexpr std::uint32_t most_fused = 8;
  template <class Vector>
  static HWY_INLINE Vector enter(Vector value) {
    if constexpr (std::is_floating_point_v<hn::TFromV<Vector>>) {
      return hn::Neg(value);
    } else {
      return value;
    }
  }
  template <class Tag, class Vector>
  static HWY_INLINE Vector combine(Tag d, Vector a, Vector b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<Tag>>) {
      return minimum::combine(d, a, b);
    } else {
      return hn::Max(a, b);
    }
  }
  template <class Tag, class Vector>
  static HWY_INLINE Vector leave(Tag d, Vector value) {
    return minimum::leave(d, enter(value));
  }
};

}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
