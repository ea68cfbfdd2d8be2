// SPDX-License-Identifier: Apache-2.0
// The delays of perturbed tests: at any wait and signal a rank may fall behind, by a little or by a time slice.
#include "runtime/memory/perturb.hpp"

#include <cstdint>
#include <functional>
#include <thread>

namespace coset::runtime {

void perturb() noexcept {
  thread_local std::uint64_t state = std::hash<std::thread::id>{}(std::this_thread::get_id()) | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % 64 == 0) {
    std::this_thread::yield();
  } else if (state % 8 == 0) {
    for (std::uint64_t volatile turns = state >> 8 & 1023; turns > 0;) turns = turns - 1;
  }
}

}  // namespace coset::runtime
