// SPDX-License-Identifier: Apache-2.0
// From (operation, element type) to the erased reduction that programs run.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "coset/detail/fold.hpp"
#include "coset/operations.hpp"

namespace coset::detail {

/// A reduction without its types.
struct reduction_table {
  fold_set const* folds = nullptr;
  fold_set const* streaming_folds = nullptr;  ///< the same past the caches, where there are any
  std::size_t element_bytes = 1;
  std::string_view type;  ///< names for messages
  std::string_view operation;
  std::uint64_t hash =
      0;               ///< of the types' linkage names: equal on two ranks, threads or processes, if they mean the same
  bool exact = false;  ///< bracketing cannot change the bits of a result
  bool commutative = true;
};

/// The built-in (operation, type) combinations, served by the vectorised kernels.
enum class built_in_operation : std::uint8_t { plus, multiplies, minimum, maximum };
enum class built_in_element : std::uint8_t { int32, int64, float32, float64 };
/// Throw argument_error if COSET_ISA is wrong.
fold_set const& built_in_folds(built_in_operation, built_in_element);
fold_set const& built_in_streaming_folds(built_in_operation, built_in_element);

constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325u) {
  for (char const c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return seed;
}

/// The type's name as the compiler spells it, cut out of the name of this function: for people only, as lambdas of one
/// function may share it.
template <class T>
constexpr std::string_view name_of() {
  std::string_view const all = __PRETTY_FUNCTION__;
  std::size_t const begin = all.find("T = ") + 4;
  std::size_t const end = std::min(all.find("; std::string_view", begin), all.rfind(']'));
  return all.substr(begin, end - begin);
}

template <class Op>
constexpr int built_in_operation_of = std::same_as<Op, plus>         ? int(built_in_operation::plus)
                                      : std::same_as<Op, multiplies> ? int(built_in_operation::multiplies)
                                      : std::same_as<Op, minimum>    ? int(built_in_operation::minimum)
                                      : std::same_as<Op, maximum>    ? int(built_in_operation::maximum)
                                                                     : -1;

template <class T>
constexpr int built_in_element_of = std::same_as<T, float>                      ? int(built_in_element::float32)
                                    : std::same_as<T, double>                   ? int(built_in_element::float64)
                                    : std::signed_integral<T> && sizeof(T) == 4 ? int(built_in_element::int32)
                                    : std::signed_integral<T> && sizeof(T) == 8 ? int(built_in_element::int64)
                                                                                : -1;

/// Folds with an operation that the kernels do not know: one plain loop, compiled where the operation is visible.
template <class T, class Op>
void plain_fold(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
                std::uint32_t sources, std::size_t count) {
  Op const& op = *static_cast<Op const*>(context);
  for (std::size_t i = 0; i < count; ++i) {
    T value = static_cast<T const*>(from[0])[i];
    for (std::uint32_t s = 1; s < sources; ++s) value = op(value, static_cast<T const*>(from[s])[i]);
    for (std::uint32_t d = 0; d < destinations; ++d) static_cast<T*>(to[d])[i] = value;
  }
}

template <class T, class Op>
inline constexpr fold_set plain_folds = [] {
  fold_set set{};
  set.any = plain_fold<T, Op>;
  set.of.fill(plain_fold<T, Op>);
  return set;
}();

/// One source to any number of destinations.
template <std::size_t ElementBytes>
void copy_fold(void const*, void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t,
               std::size_t count) {
  for (std::uint32_t d = 0; d < destinations; ++d) {
    if (to[d] != from[0]) std::memcpy(to[d], from[0], count * ElementBytes);
  }
}

template <std::size_t ElementBytes>
inline constexpr fold_set copy_folds = [] {
  fold_set set{};
  set.any = copy_fold<ElementBytes>;
  set.of.fill(copy_fold<ElementBytes>);
  return set;
}();

/// The table of verbs that combine nothing.
template <class T>
reduction_table const& copy_of() {
  static reduction_table const table{.folds = &copy_folds<sizeof(T)>,
                                     .element_bytes = sizeof(T),
                                     .type = name_of<T>(),
                                     .operation = "copy",
                                     .hash = hash_of(typeid(T).name()),
                                     .exact = true};
  return table;
}

/// The table of one (operation, type); made once. Integer arithmetic, minimum and maximum are exact.
template <class T, class Op>
reduction_table const& table_of() {
  static reduction_table const table = [] {
    reduction_table made;
    if constexpr (built_in_operation_of<Op> >= 0 && built_in_element_of<T> >= 0) {
      constexpr auto operation = built_in_operation(built_in_operation_of<Op>);
      constexpr auto element = built_in_element(built_in_element_of<T>);
      made.folds = &built_in_folds(operation, element);
      made.streaming_folds = &built_in_streaming_folds(operation, element);
    } else {
      made.folds = &plain_folds<T, Op>;
    }
    made.element_bytes = sizeof(T);
    made.type = name_of<T>();
    made.operation = name_of<Op>();
    made.hash = hash_of(typeid(Op).name(), hash_of(typeid(T).name()));
    made.exact =
        std::same_as<Op, minimum> || std::same_as<Op, maximum> || (built_in_operation_of<Op> >= 0 && std::integral<T>);
    return made;
  }();
  return table;
}

}  // namespace coset::detail
