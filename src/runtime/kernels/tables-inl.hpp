// SPDX-License-Identifier: Apache-2.0
// The tables of folds of one operation, by element and number of sources; included once per instruction set.
#if defined(COSET_KERNELS_TABLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef COSET_KERNELS_TABLES_INL
#undef COSET_KERNELS_TABLES_INL
#else
#define COSET_KERNELS_TABLES_INL
#endif

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "coset/detail/reduction.hpp"
#include "runtime/kernels/fold-inl.hpp"
#include "runtime/kernels/operation_sets.hpp"
#include "runtime/kernels/processor.hpp"
#include "runtime/kernels/widening-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {

/// What any operation makes of one source.
struct copying : unchanged {};

/// Shorter copies are in the store buffer at once.
inline constexpr std::size_t most_by_vectors = 2048;

/// The fold_function of one source: T stands for all elements of its size.
template <class T>
void copy(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
          std::uint32_t sources, std::size_t count) {
  bool const is_long = destinations == 1 && count * sizeof(T) > most_by_vectors;
  if (one_lane || (is_long && copies_by_strings))
    detail::copy_fold<sizeof(T)>(context, to, destinations, from, sources, count);
  else
    cached_folds<copying, T>::template exactly<1>(context, to, destinations, from, sources, count);
}

template <std::size_t Bytes>
constexpr detail::fold_function copy_of() {
  if constexpr (Bytes == 1) return copy<std::int8_t>;
  if constexpr (Bytes == 2) return copy<std::int16_t>;
  if constexpr (Bytes == 4) return copy<std::int32_t>;
  if constexpr (Bytes == 8) return copy<std::int64_t>;
}

template <class Operation, class T, class Folds>
struct fold_table {
  static constexpr std::size_t most_fused = Folds::most_fused;

  static void any(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
                  std::uint32_t sources, std::size_t count) {
    auto const fold = sources <= max_fused_sources ? set.of[sources] : fold_of<max_fused_sources + 1>();
    fold(context, to, destinations, from, sources, count);
  }

  template <std::uint32_t Sources>
  static constexpr detail::fold_function fold_of() {
    if constexpr (Sources == 1 && half_float<T>) {
      return detail::copy_fold<sizeof(T)>;
    } else if constexpr (Sources == 1 && std::is_same_v<Folds, cached_folds<Operation, T>>) {
      return copy_of<sizeof(T)>();
    } else if constexpr (Sources <= Folds::most_fused) {
      return Folds::template exactly<Sources>;
    } else if constexpr (half_float<T> && Operation::widens) {
      return widening_fold<Operation, T>::of_elements;
    } else {
      return tiled_fold<Operation, T, Folds>::run;
    }
  }

  static constexpr detail::fold_set set = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return detail::fold_set{any, {any, fold_of<1 + Index>()...}};
  }
  (std::make_index_sequence<max_fused_sources>());
};

/// A table for groups of `Factor` elements of another, as complex numbers are of floats. More sources than one pass takes
/// share one function, whatever their number.
template <class Table, std::size_t Factor>
struct scaled_table {
  template <std::size_t Index>
  static void scaled(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
                     std::uint32_t sources, std::size_t count) {
    Table::set.of[Index](context, to, destinations, from, sources, count * Factor);
  }
  static constexpr std::size_t with_own_code(std::size_t sources) { return sources > Table::most_fused ? 0 : sources; }
  static constexpr detail::fold_set set = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return detail::fold_set{scaled<0>, {scaled<with_own_code(Index)>...}};
  }
  (std::make_index_sequence<max_fused_sources + 1>());
};

/// What is folded for elements of T: bits by bytes, complex numbers by their parts, unsigned sums as signed ones.
template <class Operation, class T>
constexpr auto folded_as() {
  using enum detail::built_in_operation;
  constexpr auto name = Operation::name;
  if constexpr (name == bit_and || name == bit_or || name == bit_xor) {
    return std::int8_t();
  } else if constexpr (std::is_integral_v<T> && (name == plus || name == multiplies)) {
    return std::make_signed_t<T>();
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return float();
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return double();
  } else {
    return T();
  }
}

template <class Operation, template <class, class> class Folds, class T>
constexpr void put_set(element_sets& sets) {
  constexpr auto element = detail::built_in_element(detail::built_in_element_of<T>);
  if constexpr (detail::has_kernel(Operation::name, element)) {
    using folded = decltype(folded_as<Operation, T>());
    using table = fold_table<Operation, folded, Folds<Operation, folded>>;
    if constexpr (sizeof(folded) == sizeof(T)) {
      sets[std::size_t(element)] = &table::set;
    } else {
      sets[std::size_t(element)] = &scaled_table<table, sizeof(T) / sizeof(folded)>::set;
    }
  }
}

template <class Operation, template <class, class> class Folds, class... Elements>
constexpr element_sets sets_of() {
  element_sets sets{};
  (put_set<Operation, Folds, Elements>(sets), ...);
  return sets;
}

template <class Operation>
constexpr operation_sets make_sets() {
  using i8 = std::int8_t;
  using i16 = std::int16_t;
  using i32 = std::int32_t;
  using i64 = std::int64_t;
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  operation_sets sets{sets_of<Operation, cached_folds, i8, i16, i32, i64, u8, u16, u32, u64, float16, bfloat16, float,
                              double, c64, c128>(),
                      {},
                      {}};
  if constexpr (Operation::streams) sets.streaming = sets_of<Operation, streaming_folds, i32, i64, float, double>();
  if constexpr (Operation::widens) {
    sets.mixed[std::size_t(detail::built_in_element::float16)] = widening_fold<Operation, float16>::mixed;
    sets.mixed[std::size_t(detail::built_in_element::bfloat16)] = widening_fold<Operation, bfloat16>::mixed;
  }
  return sets;
}

template <class Operation>
inline constexpr operation_sets all_sets = make_sets<Operation>();

}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
