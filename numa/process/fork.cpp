// SPDX-License-Identifier: Apache-2.0
#include "numa/process/fork.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "coset/detail/reduction.hpp"

namespace coset::numa {

constinit std::uint32_t of_process::number = 1;

namespace {

constinit pid_t known_as = 0;

constinit std::atomic<std::uint32_t> inside = 0;  ///< threads that have a fork wait
constinit std::atomic<bool> forks = false;
constinit std::mutex forking;
constinit thread_local std::uint32_t depth = 0;

struct range {
  std::byte* begin;
  std::size_t bytes;
};
constinit fork_safe_mutex listing;
/// Never destroyed: teams may end later than static objects.
constinit std::vector<range>* shared = nullptr;

/// If the system has no pages for it, a child that writes there ends by a signal, and the parent goes on.
void take_away_shared_pages() noexcept {
  if (shared == nullptr) return;
  for (range const& each : *shared) {
    void* const own = mmap(each.begin, each.bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (own == MAP_FAILED) munmap(each.begin, each.bytes);
  }
}

void begin_as_child() noexcept {
  ++of_process::number;
  known_as = getpid();
  take_away_shared_pages();
}

void before_fork() {
  forking.lock();
  forks.store(true, std::memory_order_seq_cst);  // partner: fork_waits::begin()
  std::uint32_t const own = depth != 0 ? 1 : 0;
  while (inside.load(std::memory_order_seq_cst) != own) sched_yield();  // partner: begin() and end()
}

void after_fork() {
  forks.store(false, std::memory_order_relaxed);
  forking.unlock();
}

void after_fork_in_child() {
  begin_as_child();
  after_fork();
}

/// Before the program's own static objects, or when the first of these makes a team. Handlers of a library that is closed
/// are forgotten with it.
[[gnu::constructor(101)]] void watch_forks() {
  static constinit std::atomic<bool> watched = false;
  known_as = getpid();
  if (!watched.exchange(true)) pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

}  // namespace

std::uint32_t process_number_by_the_system() noexcept {
  if (known_as == 0) watch_forks();
  if (getpid() != known_as) begin_as_child();
  return process_number();
}

/// Either the thread that forks sees this one inside, or this one sees that it forks, and lets it go first.
void fork_waits::begin() noexcept {
  if (depth++ != 0) return;
  for (;;) {
    inside.fetch_add(1, std::memory_order_seq_cst);
    if (!forks.load(std::memory_order_seq_cst)) return;
    inside.fetch_sub(1, std::memory_order_release);
    std::lock_guard const until_it_has_forked(forking);
  }
}

void fork_waits::end() noexcept {
  if (--depth == 0) inside.fetch_sub(1, std::memory_order_release);
}

void keep_from_children(std::byte* begin, std::size_t bytes) {
  std::lock_guard const lock(listing);
  if (shared == nullptr) shared = new std::vector<range>;
  shared->push_back({begin, bytes});
}

void keep_no_more(std::byte* begin) noexcept {
  std::lock_guard const lock(listing);
  if (shared == nullptr) return;  // there was no memory for the list
  std::erase_if(*shared, [&](range const& each) { return each.begin == begin; });
}

}  // namespace coset::numa

namespace coset::inline COSET_ABI::detail {

void while_no_thread_forks(void (*call)()) {
  numa::fork_waits const until_it_returns;
  call();
}

}  // namespace coset::detail
