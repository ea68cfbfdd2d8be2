// SPDX-License-Identifier: Apache-2.0
// Which execution comes next: depth first, without those that differ only in the order of operations that commute.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "memory/explorer/model.hpp"

namespace coset::memory_test {

/// What an operation touches. Two commute unless one writes what the other touches.
class footprint {
 public:
  void add(void const* what, bool writes);
  void add_everything() { everything_ = true; }
  bool conflicts_with(footprint const&) const;
  friend bool operator==(footprint const&, footprint const&) = default;

 private:
  struct touch {
    void const* what = nullptr;
    bool writes = false;
    friend bool operator==(touch const&, touch const&) = default;
  };
  std::array<touch, 12> touches_{};
  std::uint32_t number_ = 0;
  bool everything_ = false;
};

using thread_set = std::uint32_t;

/// Where a program is: what each thread would do next, and which of them can.
struct crossing {
  std::array<footprint, most_threads> next;
  thread_set enabled = 0, spinning = 0;
  std::optional<thread_number> running;  ///< the thread that came here, if it can go on
};

/// Dynamic partial-order reduction (Flanagan and Godefroid, POPL 2005) with sleep sets (Godefroid, 1996). Each operation
/// may have several outcomes, the values that a load may read, which are tried one after another.
class search {
 public:
  explicit search(unsigned most_preemptions) : most_preemptions_(most_preemptions) {}

  /// The next execution begins. False: there is none.
  bool begin_next();
  /// Whether an earlier execution has come here just so.
  bool is_as_before(crossing const&) const;
  /// Who goes on; none if everything from here has been seen in another order.
  std::optional<thread_number> choose_thread(crossing const&, thread_number preferred);
  /// Whether the step lies before the thread's last one in every order of what does not commute.
  bool is_before(std::size_t step, thread_number) const;
  /// What comes of the operation that the thread then makes, one of so many.
  std::uint32_t choose_outcome(std::uint32_t outcomes);
  /// After the operation.
  void note(thread_number, footprint const&);

  bool was_bounded() const { return bounded_; }
  std::size_t depth() const { return depth_; }

 private:
  using clock = std::array<std::uint32_t, most_threads>;
  struct step {
    crossing at;
    thread_number thread = 0;
    footprint what;
    std::uint32_t outcome = 0, outcomes = 1;
    thread_set to_try = 0, done = 0, asleep = 0;
    unsigned preemptions = 0;
    clock happened{};                                ///< this step's, and what it depends on
    std::array<std::uint32_t, most_threads> made{};  ///< steps of each thread before this one
  };

  bool preempts(step const&, thread_number) const;
  bool may_take(step const&, thread_number);
  thread_set asleep_after(step const&) const;
  void find_races(std::size_t at);

  std::vector<step> path_;
  std::size_t depth_ = 0;     ///< steps of this execution so far
  std::size_t repeated_ = 0;  ///< steps that were there in the execution before
  unsigned const most_preemptions_;
  bool begun_ = false, bounded_ = false;
};

}  // namespace coset::memory_test
