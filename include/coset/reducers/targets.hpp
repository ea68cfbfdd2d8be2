// SPDX-License-Identifier: Apache-2.0
// Targets of joint reductions: arrays, views and single values, each with its operation.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/error.hpp"
#include "coset/identity.hpp"
#include "coset/operations.hpp"

namespace coset::inline COSET_ABI {
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

/// An array. The address and the length of a vector are read each time they are needed; a span keeps its own.
template <class T>
class place_of_array {
 public:
  using value_type = T;

  explicit place_of_array(std::span<T> seen)
      : of_(seen.data()), count_(seen.size()), now_([](void const* data, std::size_t count) {
          return std::span<T>(static_cast<T*>(const_cast<void*>(data)), count);
        }) {}
  template <class Range>
  static place_of_array of(Range& range) {
    return place_of_array(std::addressof(range), [](void const* seen, std::size_t) {
      Range& now = *static_cast<Range*>(const_cast<void*>(seen));
      return std::span<T>(std::ranges::data(now), std::ranges::size(now));
    });
  }

  T* data() const { return now_(of_, count_).data(); }
  std::size_t count() const { return now_(of_, count_).size(); }
  static std::span<T> seen(T* copy, std::size_t count) { return {copy, count}; }

 private:
  using view = std::span<T> (*)(void const*, std::size_t);
  place_of_array(void const* range, view now) : of_(range), now_(now) {}

  void const* of_;
  std::size_t count_ = 0;
  view now_;
};

template <class View>
struct place_of_view {
  using value_type = std::remove_cv_t<typename View::element_type>;
  View view;

  value_type* data() const { return view.data_handle(); }
  std::size_t count() const { return static_cast<std::size_t>(view.mapping().required_span_size()); }
  View seen(value_type* copy, std::size_t) const { return View(copy, view.mapping()); }
};

template <class T>
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

/// What such an array is of, where a type follows from it.
template <class Array>
requires lasting_elements<Array>
using lasting_element = std::ranges::range_value_t<Array>;

/// Values: of a variable.
template <class Thing>
concept lasting_value = std::is_lvalue_reference_v<Thing> && element<std::remove_reference_t<Thing>>;

/// Whether place_of() takes it; the compiler says if not.
template <class Thing>
constexpr bool is_place() {
  using bare_type = std::remove_cvref_t<Thing>;
  if constexpr (layout_view<bare_type>) {
    return true;
  } else if constexpr (std::ranges::range<Thing>) {
    return is_result<Thing>();
  } else if constexpr (!is_value<bare_type>()) {
    return false;
  } else {
    static_assert(lasting_value<Thing>, "a target is a variable that is not const: the result has to go somewhere");
    return lasting_value<Thing>;
  }
}

template <class Thing>
auto place_of(Thing&& thing) {
  using bare_type = std::remove_cvref_t<Thing>;
  if constexpr (layout_view<bare_type>) {
    if (!thing.mapping().is_exhaustive())
      throw argument_error("a view with gaps cannot be a target: the gaps would be written, too");
    return place_of_view<bare_type>{thing};
  } else if constexpr (lasting_elements<Thing> && std::ranges::view<bare_type>) {
    return place_of_array(std::span(std::ranges::data(thing), std::ranges::size(thing)));
  } else if constexpr (writable_elements<Thing> && std::is_lvalue_reference_v<Thing>) {
    return place_of_array<std::ranges::range_value_t<Thing>>::of(thing);
  } else {
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

/// What stands in for a target after an error.
using wrong_target = target<place_of_array<char>, plus>;
}  // namespace detail

/// `into(least, coset::minimum{})`: a vector, array, span, view with a layout like std::mdspan's, or one element, and
/// the operation by which threads or, in together(), ranks reduce into it. A view with gaps throws argument_error. The
/// array or value stays the caller's; a vector may be resized, see joint_reducer::fit(). Reducers need the operation's
/// identity and cannot keep an order; together() takes any operation.
template <class Thing, class Op = plus>
auto into(Thing&& thing, Op op = {}) {
  if constexpr (detail::is_place<Thing>()) {
    auto place = detail::place_of(std::forward<Thing>(thing));
    using value_type = typename decltype(place)::value_type;
    if constexpr (!detail::is_operation<Op, value_type>()) {
      return detail::missing<detail::wrong_target>();
    } else if constexpr (has_identity<Op, value_type>) {
      return target<decltype(place), Op>{place, std::move(op), identity_of<value_type, Op>()};
    } else {
      return target<decltype(place), Op, detail::no_identity>{place, std::move(op), {}};
    }
  } else {
    return detail::missing<detail::wrong_target>();
  }
}
/// With an operation and an identity of your own.
template <class Thing, class Op, class T>
auto into(Thing&& thing, Op op, T identity) {
  if constexpr (detail::is_place<Thing>()) {
    auto place = detail::place_of(std::forward<Thing>(thing));
    using value_type = typename decltype(place)::value_type;
    constexpr bool is_an_element = std::is_convertible_v<T, value_type> || std::is_arithmetic_v<T>;
    static_assert(is_an_element, "the identity has to be a value of the elements' type");
    if constexpr (is_an_element && detail::folds_copies<Op, value_type>()) {
      return target<decltype(place), Op>{place, std::move(op), static_cast<value_type>(identity)};
    } else {
      return detail::missing<detail::wrong_target>();
    }
  } else {
    return detail::missing<detail::wrong_target>();
  }
}

namespace detail {

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
