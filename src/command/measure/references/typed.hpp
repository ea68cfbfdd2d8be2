// SPDX-License-Identifier: Apache-2.0
// From what a problem names to types: elements and operations of coset.
#pragma once

#include <coset/operations.hpp>

#include "command/measure/harness/workload.hpp"

namespace coset::measure {

/// Calls visitor(op) for an operation on T.
template <class T, class Visitor>
void visit_operation(operation_kind operation, Visitor&& visitor) {
  switch (operation) {
    case operation_kind::plus:
      return visitor(plus{});
    case operation_kind::multiplies:
      return visitor(multiplies{});
    case operation_kind::minimum:
      return visitor(minimum{});
    case operation_kind::maximum:
      return visitor(maximum{});
    case operation_kind::reproducible_plus:
      if constexpr (std::floating_point<T>) visitor(reproducible_plus{});
  }
}

/// Calls visitor(T{}).
template <class Visitor>
void visit_element(element_kind element, Visitor&& visitor) {
  switch (element) {
    case element_kind::int32:
      return visitor(std::int32_t{});
    case element_kind::int64:
      return visitor(std::int64_t{});
    case element_kind::float32:
      return visitor(float{});
    case element_kind::float64:
      return visitor(double{});
  }
}

}  // namespace coset::measure
