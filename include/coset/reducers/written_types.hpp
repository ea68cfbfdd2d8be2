// SPDX-License-Identifier: Apache-2.0
// The types of reductions of several arrays and values, as programs write them, and the targets that they stand for.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/reducers/targets.hpp"

namespace coset::inline COSET_ABI {

/// What a reduction is of, where its type is written out, for example as a member of a class:
///
///     coset::omp::reduction<double, coset::value_of<float, coset::maximum>> sums;
///
/// `double` alone is an array of double into which sums go; these are the others. They have no objects.
template <class T, class Operation>
struct array_of;  ///< an array with another operation than the sum
template <class T, class Operation = plus>
struct value_of;  ///< one value
template <class View, class Operation = plus>
struct view_of;  ///< a view like std::mdspan

namespace detail {

/// What targets are made of, and targets.
template <class Thing>
concept reduced_into = is_target<std::remove_cvref_t<Thing>> || layout_view<std::remove_cvref_t<Thing>> ||
    lasting_elements<Thing> || lasting_value<Thing>;

/// What no reduction can be of: a deduction guide's answer to what it was given, or a part of a type that says nothing.
template <class Given>
struct wrong {
  static constexpr bool is_right() { return is_place<Given>() && false; }
  using target = wrong_target;
};

/// From a type as it is written to its target.
template <class Written>
struct written {
  static constexpr bool is_right() {
    constexpr bool is_type_of_elements =
        !layout_view<Written> && (element<Written> || !(std::ranges::range<Written> || std::is_const_v<Written> ||
                                                        std::is_reference_v<Written>));
    static_assert(
        is_type_of_elements,
        "a reduction's template arguments are the types of elements: double for an array of double, of whatever "
        "kind; array_of<double, operation>, value_of<double>, and view_of<View> for a view like std::mdspan");
    if constexpr (is_type_of_elements) {
      return is_element<Written>();
    } else {
      return false;
    }
  }
  using target = coset::target<place_of_array<std::remove_reference_t<Written>>, plus>;
};
template <class Given>
struct written<wrong<Given>> : wrong<Given> {};
template <class T, class Op>
struct written<array_of<T, Op>> {
  static constexpr bool is_right() {
    constexpr bool is_no_sum = !std::same_as<Op, plus>;
    static_assert(is_no_sum, "a sum into an array is written as the type of its elements alone: reduction<double>");
    return is_element<T>() && folds_copies<Op, T>() && is_no_sum;
  }
  using target = coset::target<place_of_array<T>, Op>;
};
template <class T, class Op>
struct written<value_of<T, Op>> {
  static constexpr bool is_right() { return is_element<T>() && folds_copies<Op, T>(); }
  using target = coset::target<place_of_value<T>, Op>;
};
template <class View, class Op>
struct written<view_of<View, Op>> {
  static constexpr bool is_right() {
    static_assert(layout_view<View>, "view_of<View> is for views that describe their memory as std::mdspan does");
    return layout_view<View>;
  }
  using target = coset::target<place_of_view<View>, Op>;
};

/// The same backwards, whatever the identity.
template <class Place, class Op>
struct writing;
template <class T, class Op>
struct writing<place_of_array<T>, Op> {
  using type = std::conditional_t<std::same_as<Op, plus>, T, array_of<T, Op>>;
};
template <class T, class Op>
struct writing<place_of_value<T>, Op> {
  using type = value_of<T, Op>;
};
template <class View, class Op>
struct writing<place_of_view<View>, Op> {
  using type = view_of<View, Op>;
};

/// How the target of something given is written. Forms no error, as it may be looked at in vain.
template <class Given>
struct writing_of : std::type_identity<wrong<Given>> {};
template <class Given>
requires is_target<std::remove_cvref_t<Given>>
struct writing_of<Given>
    : writing<decltype(std::remove_cvref_t<Given>::place), decltype(std::remove_cvref_t<Given>::op)> {
};
template <class Given>
requires(!is_target<std::remove_cvref_t<Given>> && reduced_into<Given>) struct writing_of<Given>
    : writing<decltype(place_of(std::declval<Given>())), plus> {
};
template <class Given>
using written_for = typename writing_of<Given>::type;

template <class Written>
using target_of = std::conditional_t<written<Written>::is_right(), typename written<Written>::target, wrong_target>;

/// The target that is written as Written, of something given: into() has made it, or its operation is Written's.
template <class Written, class Given>
auto as_target(Given&& given) {
  using wanted = target_of<Written>;
  if constexpr (is_target<std::remove_cvref_t<Given>>) {
    constexpr bool has_identity = !lacks_identity<std::remove_cvref_t<Given>>;
    static_assert(has_identity, "this operation's identity has to be given: into(thing, operation, identity)");
    constexpr bool fits_the_type = !has_identity || std::same_as<std::remove_cvref_t<Given>, wanted>;
    static_assert(fits_the_type,
                  "this is not what the reduction's type says: double stands for an array of double and its sum, "
                  "array_of<double, operation> for another operation, value_of<double> for one value");
    if constexpr (has_identity && fits_the_type) {
      return wanted(std::forward<Given>(given));
    } else {
      return missing<wanted>();
    }
  } else if constexpr (is_place<Given>()) {
    using op = decltype(wanted::op);
    constexpr bool is_known = std::is_class_v<op> && std::default_initializable<op>;
    static_assert(is_known, "the operation has to be given, not only its type: into(thing, operation, identity)");
    if constexpr (is_known) {
      return as_target<Written>(into(std::forward<Given>(given), op{}));
    } else {
      return missing<wanted>();
    }
  } else {
    return missing<wanted>();
  }
}

/// The same for all of a reduction.
template <class... Written, class... Given>
auto as_targets(Given&&... given) {
  constexpr bool as_many = sizeof...(Given) == sizeof...(Written);
  static_assert(as_many, "a reduction is made from as many arrays and values as its type has template arguments");
  if constexpr (as_many && (written<Written>::is_right() && ...)) {
    return std::tuple<target_of<Written>...>(as_target<Written>(std::forward<Given>(given))...);
  } else {
    return missing<std::tuple<target_of<Written>...>>();
  }
}

}  // namespace detail
}  // namespace coset
