// SPDX-License-Identifier: Apache-2.0
// Which node each page of a range is on.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "numa/memory.hpp"

namespace coset::vm_test {

/// Pages of a range that are in memory, and how many of them are elsewhere.
struct pages_found {
  std::size_t resident = 0, strangers = 0;
};

inline pages_found pages(void const* begin, std::size_t bytes, unsigned os_node) {
  pages_found found;
  auto const* const first = static_cast<std::byte const*>(begin);
  auto const look = [&](std::byte const* at) {
    auto const node = numa::node_of(at);
    found.resident += node ? 1 : 0;
    found.strangers += node && *node != os_node ? 1 : 0;
  };
  for (std::size_t at = 0; at < bytes; at += numa::page_bytes()) look(first + at);
  if (bytes > 0) look(first + bytes - 1);
  return found;
}

/// Pages that must be there, and here; `written` false where only those that are there count.
inline void expect_on(unsigned os_node, void const* begin, std::size_t bytes, std::string const& what,
                      bool written = true) {
  auto const found = pages(begin, bytes, os_node);
  EXPECT_EQ(found.strangers, 0u) << what << ": of " << found.resident << " pages, not on node " << os_node;
  if (written) {
    EXPECT_GT(found.resident, bytes / numa::page_bytes()) << what;
  }
}

}  // namespace coset::vm_test
