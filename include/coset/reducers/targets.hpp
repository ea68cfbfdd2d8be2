// SPDX-License-Identifier: Apache-2.0
// Targets of joint reductions: arrays, views and single values, each with its operation.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "coset/error.hpp"
#include "coset/identity.hpp"
#include "coset/operations.hpp"

namespace coset {
namespace detail {

/// Multi-dimensional arrays that describe their memory as std::mdspan does. The private copies use the same layout.
template <class View>
concept layout_view = requires(View const& view) {
  typename View::element_type;
  view.mapping().required_span_size();
  { view.mapping().is_exhaustive() } -> std::convertible_to<bool>;
  { view.data_handle() } -> std::convertible_to<typename View::element_type*>;
  View(view.data_handle(), view.mapping());
}
&&element<typename View::element_type>;

/// A vector, for example: its address and length are read each time they are needed.
template <class Range>
struct place_of_range {
  using value_type = std::ranges::range_value_t<Range>;
  Range* range;

  value_type* data() const { return std::ranges::data(*range); }
  std::size_t count() const { return std::ranges::size(*range); }
  static std::span<value_type> seen(value_type* copy, std::size_t count) { return {copy, count}; }
};

template <element T>
struct place_of_span {
  using value_type = T;
  std::span<T> elements;

  T* data() const { return elements.data(); }
  std::size_t count() const { return elements.size(); }
  std::span<T> seen(T* copy, std::size_t count) const { return {copy, count}; }
};

template <layout_view View>
struct place_of_view {
  using value_type = std::remove_cv_t<typename View::element_type>;
  View view;

  value_type* data() const { return view.data_handle(); }
  std::size_t count() const { return static_cast<std::size_t>(view.mapping().required_span_size()); }
  View seen(value_type* copy, std::size_t) const { return View(copy, view.mapping()); }
};

template <element T>
struct place_of_value {
  using value_type = T;
  T* value;

  T* data() const { return value; }
  static constexpr std::size_t count() { return 1; }
  static T& seen(T* copy, std::size_t) { return *copy; }
};

/// Whether element k of the one is element k of the other, for equal lengths.
template <class A, class B>
bool same_layout(A const&, B const&) {
  return true;
}
template <class A, class B>
bool same_layout(place_of_view<A> const& a, place_of_view<B> const& b) {
  static_assert(std::same_as<A, B>, "views of another type: their elements may lie in another order");
  return a.view.mapping() == b.view.mapping();
}

/// Elements that outlive the expression: of a variable or of a view of one. A temporary std::views::single owns its own.
template <class Thing>
concept lasting_elements = writable_elements<Thing> && std::ranges::borrowed_range<Thing>;

template <class Thing>
auto place_of(Thing&& thing) {
  using bare_type = std::remove_cvref_t<Thing>;
  if constexpr (layout_view<bare_type>) {
    if (!thing.mapping().is_exhaustive())
      throw argument_error("a view with gaps cannot be a target: the gaps would be written, too");
    return place_of_view<bare_type>{thing};
  } else if constexpr (lasting_elements<Thing> && std::ranges::view<bare_type>) {
    return place_of_span<std::ranges::range_value_t<Thing>>{{std::ranges::data(thing), std::ranges::size(thing)}};
  } else if constexpr (writable_elements<Thing> && std::is_lvalue_reference_v<Thing>) {
    return place_of_range<std::remove_reference_t<Thing>>{std::addressof(thing)};
  } else {
    static_assert(std::is_lvalue_reference_v<Thing> && element<std::remove_reference_t<Thing>>,
                  "a target is a variable: an array whose length is known, a view, or one element");
    return place_of_value<std::remove_reference_t<Thing>>{std::addressof(thing)};
  }
}

}  // namespace detail

namespace detail {
/// For collectives, which start from what ranks bring.
struct no_identity {};
}  // namespace detail

/// An array or value that is reduced into, and its operation. Made by into().
template <class Place, class Op, class Identity = typename Place::value_type>
struct target {
  using value_type = typename Place::value_type;
  Place place;
  [[no_unique_address]] Op op;
  [[no_unique_address]] Identity identity;
};

namespace detail {
template <class T>
inline constexpr bool is_target = false;
template <class Place, class Op, class Identity>
inline constexpr bool is_target<target<Place, Op, Identity>> = true;

template <class T>
inline constexpr bool lacks_identity = false;
template <class Place, class Op>
inline constexpr bool lacks_identity<target<Place, Op, no_identity>> = true;
}  // namespace detail

/// `into(least, coset::minimum{})`: a vector, array, span, view with a layout like std::mdspan's, or one element, and
/// the operation by which threads or, in together(), ranks reduce into it. A view with gaps throws argument_error. The
/// array or value stays the caller's; a vector may be resized, see joint_reducer::fit(). Reducers need the operation's
/// identity and cannot keep an order; together() takes any operation.
template <class Thing, class Op = plus>
auto into(Thing&& thing, Op op = {}) {
  auto place = detail::place_of(std::forward<Thing>(thing));
  using value_type = typename decltype(place)::value_type;
  static_assert(reduction<Op, value_type>, "this is no operation on elements of the array or value");
  if constexpr (has_identity<Op, value_type>) {
    return target<decltype(place), Op>{place, std::move(op), identity_of<value_type, Op>()};
  } else {
    return target<decltype(place), Op, detail::no_identity>{place, std::move(op), {}};
  }
}
/// With an operation and an identity of your own.
template <class Thing, class Op, class T>
auto into(Thing&& thing, Op op, T identity) {
  auto place = detail::place_of(std::forward<Thing>(thing));
  using value_type = typename decltype(place)::value_type;
  static_assert(reduction<Op, value_type> && detail::is_commutative<Op>);
  return target<decltype(place), Op>{place, std::move(op), static_cast<value_type>(identity)};
}

namespace detail {

/// Targets stay as they are; other arrays and values become targets of a sum.
template <class Thing>
auto as_target(Thing&& thing) {
  if constexpr (is_target<std::remove_cvref_t<Thing>>) {
    static_assert(!lacks_identity<std::remove_cvref_t<Thing>>,
                  "this operation's identity has to be given: into(thing, op, identity)");
    return std::remove_cvref_t<Thing>(std::forward<Thing>(thing));
  } else {
    return into(std::forward<Thing>(thing));
  }
}

/// The types that as_target() accepts.
template <class Thing>
concept reduced_into = is_target<std::remove_cvref_t<Thing>> || layout_view<std::remove_cvref_t<Thing>> ||
    lasting_elements<Thing> ||(std::is_lvalue_reference_v<Thing>&& element<std::remove_reference_t<Thing>>);

template <reduced_into Thing>
using target_of = decltype(as_target(std::declval<Thing>()));

/// Where several targets are at the moment.
template <class... Places>
struct joint_places {
  using value_types = std::tuple<typename Places::value_type...>;
  std::array<void*, sizeof...(Places)> data;
  std::array<std::size_t, sizeof...(Places)> lengths;

  explicit joint_places(Places const&... each) : data{each.data()...}, lengths{each.count()...} {}
};

}  // namespace detail
}  // namespace coset
