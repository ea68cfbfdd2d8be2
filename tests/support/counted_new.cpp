// SPDX-License-Identifier: Apache-2.0
#include "support/counted_new.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

std::atomic<std::size_t> count = 0, live = 0, most = 0;

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
constinit thread_local std::size_t until_failure = never;
constinit thread_local bool failed = false, failures_last = false;
std::atomic<bool> only_here = false;
constinit thread_local bool here = false;

[[maybe_unused]] void* counted(void* made) {
  if (only_here.load(std::memory_order_relaxed) && !here) {
    std::free(made);
    made = nullptr;
  }
  if (until_failure != never && until_failure-- == 0) {
    std::free(made);
    made = nullptr;
    failed = true;
    until_failure = failures_last ? 0 : never;
  }
  if (made == nullptr) throw std::bad_alloc();
  count.fetch_add(1, std::memory_order_relaxed);
  std::size_t const bytes = malloc_usable_size(made), now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  for (std::size_t known = most; known < now && !most.compare_exchange_weak(known, now);) continue;
  return made;
}

[[maybe_unused]] void forget(void* memory) noexcept {
  live.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

std::size_t coset::test::allocations() noexcept { return count; }
std::size_t coset::test::live_bytes() noexcept { return live; }
std::size_t coset::test::most_live_bytes() noexcept { return most; }
void coset::test::begin_most() noexcept { most = live.load(); }

void coset::test::fail_allocation(std::size_t after, shortage how_long) noexcept {
  until_failure = after;
  failures_last = how_long == shortage::lasting;
  failed = false;
}
bool coset::test::allocation_failed() noexcept {
  until_failure = never;
  return failed;
}

void coset::test::fail_allocations_of_other_threads(bool fail) noexcept {
  here = fail;
  only_here = fail;
}

// Sanitizers have operators of their own, and nothing is counted.
#ifndef COSET_IS_SANITIZED
void* operator new(std::size_t bytes) { return counted(std::malloc(std::max<std::size_t>(bytes, 1))); }
/// The standard library's temporary buffers. A sanitizer's own would not be freed by the delete below.
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept try {
  return operator new(bytes);
} catch (std::bad_alloc const&) {
  return nullptr;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  auto const to = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(to, (bytes + to - 1) / to * to));
}
void operator delete(void* memory) noexcept { forget(memory); }
void operator delete(void* memory, std::size_t) noexcept { forget(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { forget(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { forget(memory); }
#endif
