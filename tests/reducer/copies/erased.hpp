// SPDX-License-Identifier: Apache-2.0
// Reducers beneath their types, to ask for what users cannot see.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "coset/reducers/reducer.hpp"
#include "numa/memory.hpp"
#include "reducer/core.hpp"

namespace coset::reducer_test {

using core_pointer = std::shared_ptr<detail::reducer_core>;

template <class T, class Op = plus>
detail::reduced_array sums_of(std::size_t count, Op op = {}, T identity = identity_of<T, Op>()) {
  return detail::erased(count, op, identity);
}

template <class T>
T* elements_of(detail::reducer_core const& core, detail::private_copy const& copy, std::size_t array = 0) {
  return reinterpret_cast<T*>(copy.data + detail::offset_of(core, array));
}

inline std::size_t resident_pages(void const* begin, std::size_t bytes) {
  std::vector<unsigned char> pages(bytes / numa::page_bytes());
  EXPECT_EQ(mincore(const_cast<void*>(begin), bytes, pages.data()), 0);
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; }));
}

}  // namespace coset::reducer_test
