// SPDX-License-Identifier: Apache-2.0
// Threads of a program are contexts of one thread of the system, of which one goes on at each atomic operation.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory/explorer/explorer.hpp"
#include "memory/explorer/search.hpp"

namespace coset::memory_test {

inline constexpr std::size_t stack_bytes = 512 * 1024;
/// So often a loop is gone through in vain before it counts as one that waits for others.
inline constexpr std::size_t looks_in_vain = 2;
/// So often a thread may read the same in one place until others come first, and it reads what is new.
inline constexpr unsigned looks_in_turn = 3;
inline constexpr std::size_t longest_execution = 5000;

/// Of the C++ runtime: exceptions being handled. Each context has its own.
struct exceptions_under_way {
  void* caught;
  unsigned uncaught;
};

struct look {
  std::size_t object;
  std::uint32_t which;
  void const* from;
  friend bool operator==(look const&, look const&) = default;
};

struct thread {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
  exceptions_under_way exceptions{};
  std::function<void()> body;
  bool has_begun = false, has_ended = false;

  footprint next;                   ///< what it is about to do
  void const* waits_at = nullptr;   ///< the code of it
  std::vector<look> loop;           ///< what it waits for to change; empty: it can go on
  void const* wants = nullptr;      ///< a lock
  void const* sleeps_on = nullptr;  ///< a futex; null: it can go on
  std::vector<look> looks;          ///< since it last wrote
  std::map<std::pair<std::size_t, void const*>, std::pair<std::uint32_t, unsigned>>
      same;               ///< [object, place]: read so often
  std::size_t tries = 0;  ///< to take a lock, in vain
  std::uint64_t clock = 0;
  bool spins = false;  ///< it has read the same so often that it is the others' turn
};

struct lock_state {
  bool taken = false;
  view released;
};

class execution {
 public:
  execution(bounds const& within, findings& found) : within_(within), found_(found), search_(within.preemptions) {}

  bool begin_next(std::uint64_t number);
  void run(program const&);

  bool has_membarrier() const { return within_.membarrier; }
  bool is_inside() const { return inside_; }
  thread_number current() const { return current_; }
  thread& mine() { return threads_[current_]; }
  memory_test::model& model() { return model_; }

  void go_on_with(footprint const&);
  /// Of values [oldest, latest] of an object.
  std::uint32_t choose_value(std::size_t object, std::uint32_t oldest, std::uint32_t latest);
  void note_written(std::size_t object);
  void done(footprint const&, void const* from, char const* what, std::optional<std::uint64_t> value = {});
  void note(thread_number, char const* what, void const* from);
  void fail(std::string const&);
  lock_state& lock_at(void const* mutex) { return locks_[mutex]; }
  void wake(void const* futex);

 private:
  static void enter();
  void start(thread_number);
  void start_all();
  void switch_to(thread_number);
  void switch_back();
  bool can_go_on(thread const&) const;
  std::optional<thread_number> choose_next();
  thread_number next_in_turn(thread_set) const;
  void nap_or_fail();

  bounds const within_;
  findings& found_;
  memory_test::model model_;
  search search_;
  std::mt19937_64 chance_;
  bool by_chance_ = false, is_old_ = false;
  bool inside_ = false;
  std::array<thread, most_threads> threads_;
  std::size_t number_ = 0;
  thread_number current_ = 0;
  ucontext_t outside_{};
  exceptions_under_way exceptions_outside_{};
  std::unordered_map<void const*, lock_state> locks_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> written_;  ///< in which step each value of an object was
  std::vector<event> events_;
  unsigned naps_ = 0;
};

/// Null in threads of the system that are not explored.
extern thread_local execution* at_work;

/// The explorer's own work is not part of the program, though both may share instrumented code.
extern bool is_exploring;
struct exploring {
  exploring() { is_exploring = true; }
  ~exploring() { is_exploring = false; }
  exploring(exploring const&) = delete;
  exploring& operator=(exploring const&) = delete;
};

}  // namespace coset::memory_test
