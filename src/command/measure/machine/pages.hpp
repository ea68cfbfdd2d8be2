// SPDX-License-Identifier: Apache-2.0
// Where pages of measured arrays lie, as the system tells.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "numa/memory.hpp"

namespace coset::measure {

/// Adds to `pages` by node, as the system numbers them, the pages of a range. Each is read first: of one that the kernel has
/// hidden to see who uses it (NUMA balancing) it does not tell.
inline void count_pages(std::byte const* begin, std::size_t bytes, std::map<unsigned, std::size_t>& pages) {
  constexpr std::size_t at_once = 512;
  std::array<void*, at_once> asked{};
  std::array<int, at_once> nodes{};
  std::size_t const page = numa::page_bytes(), all = (bytes + page - 1) / page;
  for (std::size_t first = 0; first < all; first += at_once) {
    std::size_t const number = std::min(at_once, all - first);
    for (std::size_t k = 0; k < number; ++k) {
      std::byte const* const at = begin + (first + k) * page;
      static_cast<void>(*const_cast<std::byte const volatile*>(at));
      asked[k] = const_cast<std::byte*>(at);
    }
    // Without destinations it moves nothing and reports where each page is.
    if (syscall(SYS_move_pages, 0, number, asked.data(), nullptr, nodes.data(), 0) != 0) return;
    for (std::size_t k = 0; k < number; ++k)
      if (nodes[k] >= 0) ++pages[static_cast<unsigned>(nodes[k])];
  }
}

}  // namespace coset::measure
