// SPDX-License-Identifier: Apache-2.0
// Runs a program of a few threads again and again: in every order that can make a difference, with every value that its
// loads may read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory/explorer/model.hpp"

namespace coset::memory_test {

/// A program, made anew for each execution: the same every time.
struct program {
  std::vector<std::function<void()>> threads;
  std::function<std::string()> fault = [] { return std::string(); };  ///< at the end: empty, or what is wrong
};

struct bounds {
  std::uint64_t executions = 2'000'000;
  unsigned preemptions = ~0u;  ///< switches from threads that could go on; fewer are no proof
  std::uint64_t random = 0;    ///< so many executions by chance instead of all
  bool membarrier = true;      ///< whether the system has it
  unsigned naps = 0;           ///< sleeps that end by themselves once nobody can do anything else
};

/// An operation of an execution.
struct event {
  thread_number thread;
  char const* what;
  std::optional<std::uint64_t> value;
  void const* from;  ///< the code that does it
};

struct findings {
  std::uint64_t executions = 0;  ///< those that others stand for not counted
  std::uint64_t longest = 0;     ///< operations of an execution
  bool all = false;              ///< there are no others
  std::string fault;             ///< empty, or the first
  std::vector<event> path;       ///< the execution that led to it
};

/// The fault and what led to it, each operation with its place in the code.
std::string told(findings const&);

findings explore(std::function<program()> const& make, bounds const& = {});

/// For a program's threads: fails this execution.
void expect(bool holds, char const* what);

/// For a program's threads: which one it is; 0 outside.
thread_number number_of_this_thread() noexcept;

/// What an operation of the program does, as the instrumented code tells it.
struct operation {
  enum class kind : std::uint8_t { load, store, exchange, add, subtract, bit_and, bit_or, compare_exchange, fence };
  kind what;
  void const* address = nullptr;
  std::size_t bytes = 0;
  std::memory_order order = std::memory_order_seq_cst, order_of_failure = std::memory_order_seq_cst;
  std::uint64_t operand = 0, expected = 0;
  void const* from = nullptr;  ///< the code that does it
};

/// Whether the calling code is a thread of a program that is being explored.
bool is_explored() noexcept;
/// Returns what was there before.
std::uint64_t perform(operation const&);
void perform_fence_of_all();  ///< if bounds say that there is one
void access(void const* at, std::size_t bytes, bool writes, void const* from);
/// Memory that is given to somebody anew.
void allocated(void const* at, std::size_t bytes);
void lock(void const* mutex);
bool try_lock(void const* mutex);
void unlock(void const* mutex);
/// As futexes: unless the word's half has changed, until it is woken.
void sleep_on(void const* half, std::uint32_t seen);
void wake_all(void const* half);
/// As condition variables, whose notices are for all: wake_all().
void wait_for_notice(void const* condition, void const* mutex);

/// Memory for the thread: nobody has touched it in this execution.
void* memory_for(std::size_t bytes, std::size_t alignment);
/// The same, zeroed.
void* pages_for(std::size_t bytes);

/// A clock of each thread's own, which tells the same times in each execution.
std::uint64_t ticks() noexcept;

}  // namespace coset::memory_test
