// SPDX-License-Identifier: Apache-2.0
// The four operations as the rivals' inner loops see them: plain expressions that vectorise.
#pragma once

#include <limits>

#include "command/measure/harness/workload.hpp"

namespace coset::measure {

struct add {
  template <class T>
  static constexpr T identity() {
    return 0;
  }
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return a + b;
  }
};

struct multiply {
  template <class T>
  static constexpr T identity() {
    return 1;
  }
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return a * b;
  }
};

struct smaller {
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::max();
  }
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return b < a ? b : a;
  }
};

struct larger {
  template <class T>
  static constexpr T identity() {
    return std::numeric_limits<T>::lowest();
  }
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return a < b ? b : a;
  }
};

/// visitor.operator()<T, Operator>() for an element type and operation known at run time.
template <class Visitor>
auto visit_types(element_kind element, operation_kind operation, Visitor&& visitor) {
  auto const with_element = [&]<class T>() {
    switch (operation) {
      case operation_kind::plus:
      case operation_kind::reproducible_plus:
        return visitor.template operator()<T, add>();
      case operation_kind::multiplies:
        return visitor.template operator()<T, multiply>();
      case operation_kind::minimum:
        return visitor.template operator()<T, smaller>();
      case operation_kind::maximum:
        break;
    }
    return visitor.template operator()<T, larger>();
  };
  switch (element) {
    case element_kind::int32:
      return with_element.template operator()<std::int32_t>();
    case element_kind::int64:
      return with_element.template operator()<std::int64_t>();
    case element_kind::float32:
      return with_element.template operator()<float>();
    case element_kind::float64:
      break;
  }
  return with_element.template operator()<double>();
}

}  // namespace coset::measure
