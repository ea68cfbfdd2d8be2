// SPDX-License-Identifier: Apache-2.0
#include "memory/explorer/memories.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace coset::memory_test {
namespace {

constexpr std::size_t reserved_bytes = std::size_t{1} << 30;  // of addresses

std::byte* reserve() {
  void* const at =
      mmap(nullptr, reserved_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(at);
}

}  // namespace

memory_of_executions::memory_of_executions() : begin_(reserve()) {}

void memory_of_executions::begin_zeroed() {
  if (given_ != 0) madvise(begin_, given_, MADV_DONTNEED);
  given_ = 0;
}

void* memory_of_executions::take(std::size_t bytes, std::size_t alignment) {
  std::size_t const begin = (given_ + alignment - 1) / alignment * alignment;
  if (bytes > reserved_bytes - begin) throw std::bad_alloc();
  given_ = begin + bytes;
  return begin_ + begin;
}

bool memory_of_executions::holds(void const* at) const {
  return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(begin_) < reserved_bytes;
}

memories& memories::all() {
  static auto& all = *new memories;
  return all;
}

void memories::begin() {
  for (memory_of_executions& each : of_threads) each.begin();
  pages.begin_zeroed();
}

bool memories::hold(void const* at) const {
  return pages.holds(at) || std::ranges::any_of(of_threads, [&](auto const& each) { return each.holds(at); });
}

}  // namespace coset::memory_test
