// SPDX-License-Identifier: Apache-2.0
// Memory that the threads of a program allocate: it lies where it lay in earlier executions, and is gone with this one.
#pragma once

#include <array>
#include <cstddef>

#include "memory/explorer/model.hpp"

namespace coset::memory_test {

/// Addresses that are handed out from the first on, anew in each execution.
class memory_of_executions {
 public:
  memory_of_executions();
  memory_of_executions(memory_of_executions const&) = delete;
  memory_of_executions& operator=(memory_of_executions const&) = delete;

  void begin() { given_ = 0; }
  /// The same, and all of it is zero.
  void begin_zeroed();
  void* take(std::size_t bytes, std::size_t alignment);
  bool holds(void const* at) const;

 private:
  std::byte* const begin_;  ///< never unmapped: what the last execution has left may be looked at
  std::size_t given_ = 0;
};

struct memories {
  std::array<memory_of_executions, most_threads> of_threads;
  memory_of_executions pages;

  static memories& all();
  void begin();
  bool hold(void const* at) const;
};

}  // namespace coset::memory_test
