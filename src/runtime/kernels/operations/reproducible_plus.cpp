// SPDX-License-Identifier: Apache-2.0
// Reproducible sums over many elements, compiled once per instruction set: binned sums that live in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/operations/reproducible_plus.cpp"
#include "hwy/foreach_target.h"

#include <limits>

#include "runtime/kernels/binned.hpp"
#include "runtime/kernels/fold-inl.hpp"
#include "runtime/kernels/operation_sets.hpp"
#include "runtime/kernels/operations/reproducible_mixed.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {

using tag = hn::CappedTag<double, line_elements<double>>;

/// Elements as doubles and back; a float result is the double rounded to nearest even.
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_doubles(Tag d, double const* at) {
  return hn::LoadU(d, at);
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_doubles(Tag d, float const* at) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Tag>(), at));
}
template <class Tag>
HWY_INLINE void store_doubles(Tag d, hn::Vec<Tag> value, double* to) {
  hn::StoreU(value, d, to);
}
template <class Tag>
HWY_INLINE void store_doubles(Tag, hn::Vec<Tag> value, float* to) {
  if constexpr (one_lane) {
    *to = static_cast<float>(hn::GetLane(value));  // DemoteTo saturates there
  } else {
    hn::Rebind<float, Tag> const narrow;
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
  }
}

/// What is missing in sum, a + b as rounded, exactly, whichever of them is larger (Knuth). No struct of both: vectors
/// whose length the compiler does not know, as SVE's, cannot be members.
template <class Vector>
HWY_INLINE Vector error_of(Vector sum, Vector a, Vector b) {
  auto const of_b = hn::Sub(sum, a);
  return hn::Add(hn::Sub(a, hn::Sub(sum, of_b)), hn::Sub(b, of_b));
}

/// a + b rounded to odd: of the two neighbours of an inexact sum the one whose last bit is set. What is rounded to fewer
/// bits after that is rounded as if once.
template <class Tag>
HWY_INLINE hn::Vec<Tag> add_to_odd(Tag d, hn::Vec<Tag> a, hn::Vec<Tag> b) {
  hn::RebindToSigned<Tag> const i;
  auto const sum = hn::Add(a, b), error = error_of(sum, a, b);
  auto const bits = hn::BitCast(i, sum);
  auto const one = hn::Set(i, 1);
  auto const even = hn::Eq(hn::And(bits, one), hn::Zero(i));
  auto const inexact = hn::RebindMask(i, hn::Ne(error, hn::Zero(d)));
  auto const outwards = hn::Eq(hn::ShiftRight<63>(hn::BitCast(i, hn::Xor(sum, error))), hn::Zero(i));
  auto const odd = hn::IfThenElse(outwards, hn::Add(bits, one), hn::Sub(bits, one));
  return hn::BitCast(d, hn::IfThenElse(hn::And(inexact, even), odd, bits));
}

/// a + b + c, where each is far below the one before or 0. In double it is rounded once (Boldo and Melquiond, "Emulation
/// of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd"); for float it stays rounded to odd.
template <class T, class Tag>
HWY_INLINE hn::Vec<Tag> sum_of_three(Tag d, hn::Vec<Tag> a, hn::Vec<Tag> b, hn::Vec<Tag> c) {
  auto const lower = hn::Add(b, c), upper = hn::Add(a, lower);
  auto const rest = add_to_odd(d, error_of(upper, a, lower), error_of(lower, b, c));
  if constexpr (std::is_same_v<T, double>) {
    return hn::Add(upper, rest);
  } else {
    return add_to_odd(d, upper, rest);
  }
}

/// The bits of the largest magnitude; those of a NaN are larger than all others.
template <class T, class Tag>
HWY_INLINE hn::Vec<hn::RebindToSigned<Tag>> largest_magnitude(Tag d, void const* const* from, std::uint32_t sources,
                                                              std::size_t at) {
  hn::RebindToSigned<Tag> const i;
  auto largest = hn::Zero(i);
  for (std::uint32_t s = 0; s < sources; ++s)
    largest = hn::Max(largest, hn::BitCast(i, hn::Abs(load_doubles(d, static_cast<T const*>(from[s]) + at))));
  return largest;
}

/// The plain sum of what is not an ordinary number, NaN being the canonical one; of zeros where all others are ordinary.
template <class T, class Tag>
HWY_INLINE hn::Vec<Tag> special_sum(Tag d, void const* const* from, std::uint32_t sources, std::size_t at) {
  auto sum = hn::Zero(d);
  for (std::uint32_t s = 0; s < sources; ++s) {
    auto const value = load_doubles(d, static_cast<T const*>(from[s]) + at);
    auto const counts = hn::IfThenElse(hn::IsFinite(value), hn::CopySign(hn::Zero(d), value), value);
    sum = s == 0 ? counts : hn::Add(sum, counts);
  }
  return hn::IfThenElse(hn::IsNaN(sum), hn::Set(d, std::numeric_limits<double>::quiet_NaN()), sum);
}

/// What is added to the slices of a bin, and what remains for the next.
template <class Tag>
HWY_INLINE void cut_slice(Tag d, hn::Vec<Tag>& rest, hn::Vec<Tag>& slices, double round) {
  auto const slice = hn::Sub(hn::Add(rest, hn::Set(d, round)), hn::Set(d, round));
  slices = hn::Add(slices, slice);
  rest = hn::Sub(rest, slice);
}

/// The binned sum where the largest magnitude is that of an ordinary number.
template <class T, class Tag>
HWY_INLINE hn::Vec<Tag> binned_vector(Tag d, hn::Vec<hn::RebindToSigned<Tag>> largest, void const* const* from,
                                      std::uint32_t sources, std::size_t at) {
  hn::RebindToSigned<Tag> const i;
  auto const power_of_two = [&](auto exponent) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(i, 1023))));
  };
  auto const half_bin = hn::ShiftLeft<4>(hn::ShiftRight<52 + 5>(largest));  // 16 · bin
  auto const to_units = power_of_two(hn::Sub(hn::Set(i, exponent_to_units(0)), hn::Add(half_bin, half_bin)));
  auto slices0 = hn::Zero(d), slices1 = hn::Zero(d), slices2 = hn::Zero(d);
  for (std::uint32_t s = 0; s < sources; ++s) {
    auto rest = hn::Mul(load_doubles(d, static_cast<T const*>(from[s]) + at), to_units);
    rest = hn::IfThenZeroElse(hn::Lt(hn::Abs(rest), hn::Set(d, unit[2])), rest);
    cut_slice(d, rest, slices0, round_to_unit[0]);
    cut_slice(d, rest, slices1, round_to_unit[1]);
    cut_slice(d, rest, slices2, round_to_unit[2]);
  }
  // Back by two factors: the unit of bin 0 is below the normal numbers.
  auto const sum = sum_of_three<T>(d, slices0, slices1, slices2);
  constexpr int half = exponent_to_units(0) / 2;
  auto const first = power_of_two(hn::Sub(half_bin, hn::Set(i, half)));
  auto const second = power_of_two(hn::Sub(half_bin, hn::Set(i, exponent_to_units(0) - half)));
  return hn::Mul(hn::Mul(sum, first), second);
}

template <class T, class Tag>
HWY_INLINE void fold_vector(Tag d, void* const* to, std::uint32_t destinations, void const* const* from,
                            std::uint32_t sources, std::size_t at) {
  hn::RebindToSigned<Tag> const i;
  auto const infinity = hn::Set(i, 0x7ffLL << 52);
  auto const largest = largest_magnitude<T>(d, from, sources, at);
  auto const special = hn::Or(hn::Eq(largest, hn::Zero(i)), hn::Not(hn::Lt(largest, infinity)));
  auto result = binned_vector<T>(d, largest, from, sources, at);
  if (!hn::AllFalse(i, special))
    result = hn::IfThenElse(hn::RebindMask(d, special), special_sum<T>(d, from, sources, at), result);
  for (std::uint32_t k = 0; k < destinations; ++k) store_doubles(d, result, static_cast<T*>(to[k]) + at);
}

/// A fold_function for any number of sources.
template <class T>
void reproducible_fold(void const*, void* const* to, std::uint32_t destinations, void const* const* from,
                       std::uint32_t sources, std::size_t count) {
  tag const d;
  std::size_t done = 0;
  for (; count - done >= hn::Lanes(d); done += hn::Lanes(d)) fold_vector<T>(d, to, destinations, from, sources, done);
  for (; done < count; ++done) fold_vector<T>(hn::CappedTag<double, 1>(), to, destinations, from, sources, done);
}

/// A sum of one is that one, and may be copied as it is.
template <class T>
inline constexpr detail::fold_set reproducible_set = [] {
  detail::fold_set set{};
  set.any = reproducible_fold<T>;
  set.of.fill(reproducible_fold<T>);
  set.of[1] = detail::copy_fold<sizeof(T)>;
  return set;
}();

inline constexpr operation_sets reproducible_sets = [] {
  operation_sets sets{};
  sets.cached[std::size_t(element::float32)] = &reproducible_set<float>;
  sets.cached[std::size_t(element::float64)] = &reproducible_set<double>;
  sets.mixed[std::size_t(element::float32)] = mixed_reproducible_fold<float>;
  sets.mixed[std::size_t(element::float64)] = mixed_reproducible_fold<double>;
  return sets;
}();

operation_sets const* reproducible_plus_folds() { return &reproducible_sets; }

}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "runtime/kernels/instruction_set.hpp"

namespace coset::kernels {
constexpr decltype(&HWY_STATIC_DISPATCH(reproducible_plus_folds)) reproducible_plus_folds_by_target[] =
    COSET_TABLE_OF(reproducible_plus_folds);
operation_sets const& reproducible_plus_sets(std::int64_t targets) {
  return *entry_for(targets, reproducible_plus_folds_by_target)();
}
}  // namespace coset::kernels
#endif
