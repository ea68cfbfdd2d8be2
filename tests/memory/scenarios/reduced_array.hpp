// SPDX-License-Identifier: Apache-2.0
// What reducers of the scenarios reduce.
#pragma once

#include <cstddef>
#include <memory>

#include "coset/detail/private_copy.hpp"
#include "memory/scenarios/explored_team.hpp"

namespace coset::memory_test {

inline detail::reduced_array sums(std::size_t count) {
  return {.count = count,
          .reduction = &detail::table_of<long, added>(),
          .operation = detail::kept(added{}),
          .identity = std::make_shared<long const>(0),
          .fill = [](void const* element, std::size_t, void* to, std::size_t number) {
            for (std::size_t k = 0; k < number; ++k) static_cast<long*>(to)[k] = *static_cast<long const*>(element);
          }};
}

}  // namespace coset::memory_test
