// SPDX-License-Identifier: Apache-2.0
// From what a program writes to a loop of updates, and what counts of it.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "coset/updates/choice.hpp"
#include "coset/updates/log.hpp"
#include "coset/updates/loop.hpp"
#include "coset/updates/requirements.hpp"

namespace coset::inline COSET_ABI::detail {

/// Throws argument_error unless all are equal.
COSET_API void require_one_length(std::initializer_list<std::size_t>);
/// Throws argument_error: the first view and view `other` of a tuple.
[[noreturn]] COSET_API void refuse_mappings(std::size_t other);

struct no_mapping {
  friend bool operator==(no_mapping, no_mapping) = default;
};

/// What a program names as the target of updates, with an operation: a target<>, or a std::tuple of several.
template <class Thing, class Op>
auto named_target(Thing&& thing, Op const& op) {
  if constexpr (is_target<std::remove_cvref_t<Thing>>) {
    return std::remove_cvref_t<Thing>(std::forward<Thing>(thing));
  } else {
    return into(std::forward<Thing>(thing), present(op));
  }
}
template <class... Things, class Op>
auto named_target(std::tuple<Things...> const& things, Op const& op) {
  return std::apply([&](auto&... each) { return std::tuple(named_target(each, op)...); }, things);
}
template <class... Things, class Op>
auto named_target(std::tuple<Things...>& things, Op const& op) {
  return named_target(std::as_const(things), op);
}
template <class... Things, class Op>
auto named_target(std::tuple<Things...>&& things, Op const& op) {
  return named_target(std::as_const(things), op);
}

template <class Place, class Op, class Identity>
auto update_target_of(target<Place, Op, Identity> const& of) {
  using value_type = typename Place::value_type;
  return update_target<value_type, Op, Identity>{{of.place.data(), of.place.count()}, present(of.op), of.identity};
}
/// Throws argument_error if the arrays have different lengths.
template <class... Targets>
auto update_target_of(std::tuple<Targets...> const& all) {
  return std::apply(
      [](Targets const&... each) {
        require_one_length({each.place.count()...});
        return joint_update_target<decltype(update_target_of(each))...>{{update_target_of(each)...}};
      },
      all);
}

/// How a view finds elements by several indices. Throws argument_error if views that are updated at one index differ.
template <class Place, class Op, class Identity>
auto mapping_of(target<Place, Op, Identity> const& of) {
  if constexpr (requires { of.place.view.mapping(); }) {
    return of.place.view.mapping();
  } else {
    return no_mapping();
  }
}
template <class First, class... Others>
auto mapping_of(std::tuple<First, Others...> const& all) {
  return std::apply(
      [](First const& first, Others const&... others) {
        using mapping = decltype(mapping_of(first));
        if constexpr ((std::same_as<decltype(mapping_of(others)), mapping> && ...)) {
          auto const found = mapping_of(first);
          std::size_t number = 0;
          ((++number, mapping_of(others) == found ? void() : refuse_mappings(number)), ...);
          return found;
        } else {
          return no_mapping();
        }
      },
      all);
}

/// Keys as an array has them, or a function returns them; `Mapping` finds the elements of those of several indices.
template <class Key, class Mapping>
struct element_of {
  Key key_of;
  [[no_unique_address]] Mapping mapping;

  std::size_t operator()(std::size_t iteration) const {
    auto const& key = key_of(iteration);
    if constexpr (std::integral<std::remove_cvref_t<decltype(key)>>) {
      return static_cast<std::size_t>(key);
    } else {
      return std::apply([&](auto const&... indices) { return find(iteration, static_cast<std::size_t>(indices)...); },
                        key);
    }
  }

 private:
  template <class... Indices>
  std::size_t find([[maybe_unused]] std::size_t iteration, Indices... indices) const {
#ifndef NDEBUG
    if constexpr (requires { mapping.extents().extent(0); }) {
      std::size_t dimension = 0;
      (require_index(indices, dimension++, iteration), ...);
    }
#endif
    return static_cast<std::size_t>(mapping(indices...));
  }
#ifndef NDEBUG
  void require_index(std::size_t index, std::size_t dimension, std::size_t iteration) const {
    auto const extent = static_cast<std::size_t>(mapping.extents().extent(dimension));
    if (index >= extent) refuse_index(index, dimension, iteration, extent);
  }
#endif
};

template <class Things>
auto function_of(Things const& things) {
  if constexpr (of_iteration<Things>) {
    return things;
  } else {
    return read_from<std::ranges::range_value_t<Things>>{std::ranges::data(things)};
  }
}

/// Values of several arrays, as they are kept.
template <class Function>
struct recording {
  Function of;

  auto operator()(std::size_t iteration) const {
    return std::apply([](auto const&... each) { return recorded(each...); }, of(iteration));
  }
};
template <class Target, class Values>
auto values_of(Values const& values) {
  using value = brought_by<Values>;
  if constexpr (Target::arrays > 1 && tuple_like<value> && !std::is_trivially_copyable_v<value>) {
    return recording<decltype(function_of(values))>{function_of(values)};
  } else {
    return function_of(values);
  }
}

/// Throws argument_error for keys and values of different numbers.
COSET_API void require_one_count(std::size_t keys, std::size_t values);

[[noreturn]] COSET_API void refuse_count(std::int64_t count);

/// Iterations are as many as the keys or values that are a range.
template <class Keys, class Values>
std::size_t count_of(Keys const& keys, Values const& values) {
  constexpr bool by_keys = std::ranges::sized_range<Keys>, by_values = std::ranges::sized_range<Values>;
  static_assert(by_keys || by_values,
                "keys and values are functions: how many iterations there are stands before them");
  if constexpr (by_keys && by_values) require_one_count(std::ranges::size(keys), std::ranges::size(values));
  if constexpr (by_keys) {
    return std::ranges::size(keys);
  } else if constexpr (by_values) {
    return std::ranges::size(values);
  } else {
    return std::size_t{};
  }
}
/// The iterations of functions, as a program says how many. Throws argument_error for a number below 0.
template <class Keys, class Values, std::integral Count>
std::size_t count_of(Keys const&, Values const&, Count count) {
  constexpr bool are_functions = !std::ranges::range<Keys> && !std::ranges::range<Values>;
  static_assert(are_functions, "the number of iterations is that of the array of keys or values: leave it out");
  if (std::cmp_less(count, 0)) refuse_count(static_cast<std::int64_t>(count));
  return static_cast<std::size_t>(count);
}

template <class Target, class Key, class Value>
update_loop<Target, Key, Value> loop_of(Target target, Key key, Value value, std::size_t count) {
  return {std::move(target), std::move(key), std::move(value), count};
}

template <class Target>
struct abilities_of;  ///< what `can` is, of update_facts

/// Logical operations make 1 of a 5 that no update has met, if copies are folded.
template <class Op, class T>
inline constexpr bool keeps_untouched = !is_one_of<Op, logical_and, logical_or, logical_xor> || std::same_as<T, bool>;
/// A minimum makes another NaN of one that no update has met.
template <class Op, class T>
inline constexpr bool keeps_bits_of_untouched = std::integral<T>&& keeps_untouched<Op, T>&&
    is_one_of<Op, plus, multiplies, bit_and, bit_or, bit_xor, minimum, maximum, logical_and, logical_or, logical_xor>;

template <class T, class Op, class Identity>
struct abilities_of<update_target<T, Op, Identity>> {
  static constexpr bool copies = update_target<T, Op, Identity>::has_copies && keeps_untouched<Op, T>;
  /// reproducible_plus is exact of whole sums, and rounds where updates come one by one.
  static constexpr bool exact = is_exact<Op, T> && !std::same_as<Op, reproducible_plus>;
  static constexpr bool exact_copies = exact && keeps_bits_of_untouched<Op, T>;
  static constexpr bool atomics = is_commutative<Op> && update_target<T, Op, Identity>::is_lock_free;
};
template <class... Targets>
struct abilities_of<joint_update_target<Targets...>> {
  static constexpr bool copies = (abilities_of<Targets>::copies && ...);
  static constexpr bool exact = (abilities_of<Targets>::exact && ...);
  static constexpr bool exact_copies = (abilities_of<Targets>::exact_copies && ...);
  static constexpr bool atomics = (abilities_of<Targets>::atomics && ...);
};

/// Cost: a key of about a thousand, but 32 at least and 512 at most.
template <class Loop>
key_sample sample_of(update_loops<Loop> const& loops) {
  key_sample sample;
  if (loops.count() < key_sample::least_updates) return sample;
  std::size_t const stride = key_sample::stride_of(loops.count());
  for (std::size_t begin = stride / 2; begin < loops.count(); begin += stride)
    loops.for_each(begin, begin + 1, [&](Loop const& loop, std::size_t at, std::size_t) { sample.add(loop.key(at)); });
  sample.sort();
  return sample;
}

template <class Loop>
update_facts facts_of(update_loops<Loop> const& loops, key_sample const* sample, std::size_t threads) {
  using target = typename Loop::target_type;
  using log = update_log<typename Loop::value_type>;
  using can = abilities_of<target>;
  return {.length = loops.target().length(),
          .element_bytes = target::element_bytes(),
          .record_bytes = log::is_possible ? log::record_bytes : 0,
          .updates = loops.count(),
          .threads = threads,
          .sample = sample,
          .can = {can::copies, can::atomics, can::exact, can::exact_copies}};
}

}  // namespace coset::detail
