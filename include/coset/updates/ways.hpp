// SPDX-License-Identifier: Apache-2.0
// How a loop of updates is carried out, in each way.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include "coset/reducers/reducer.hpp"
#include "coset/updates/choice.hpp"
#include "coset/updates/log.hpp"
#include "coset/updates/loop.hpp"

namespace coset::inline COSET_ABI::detail {

/// Threads that go through phases together. All of them call the same functions in the same order, or one calls them for
/// all (tasks). A phase begins when the one before has ended, and what was written in that is visible.
template <class Crew>
concept crew = requires(Crew& all, void (*job)(std::size_t)) {
  { all.threads() } -> std::convertible_to<std::size_t>;
  all.each(std::size_t{}, job);  // job(k) for each k below this, by whichever thread is free
  all.each_own(job);             // job(k) for each k below threads(), by thread k where threads are told apart
};

/// A copy where that costs nothing.
template <class T>
using held = std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 128, T, T const&>;

/// The plain loop over a stretch of its iterations.
template <class Loop>
void carry_out_plainly(Loop const& loop, std::size_t from, std::size_t to) {
  held<Loop> const here = loop;  // not behind a pointer, which stores of elements might change
  for (std::size_t i = from; i < to; ++i) here.target.apply(here.key(i), here.value(i));
}

/// What all threads of a crew share of a loop that is carried out. One thread makes it, before the others begin.
template <class Loop>
class update_run {
 public:
  update_run(update_loops<Loop> loops, update_plan const& plan, key_sample const& sample, std::size_t threads)
      : loops_(loops), plan_(plan), sample_(sample), logs_(plan.by == way::partition ? threads : 0) {
    if (plan.by == way::private_copies) copies_ = make_reducer(loops_.target().copied(), false);
  }

  /// What copies hold after an exception is nobody's.
  ~update_run() {
    if (copies_ && has_thrown()) reset(*copies_);
  }
  update_run(update_run const&) = delete;
  update_run& operator=(update_run const&) = delete;

  /// By all threads of the crew. No exception leaves it: they are kept, see rethrow().
  template <crew Crew>
  void carry_out(Crew& all) {
    switch (plan_.by) {
      case way::owner_scan:
        return scan(all);
      case way::partition:
        return partition(all);
      case way::private_copies:
        return fold_copies(all);
      case way::atomics:
        return add_atomically(all);
      case way::chosen:
      case way::one_thread:
        break;
    }
    all.each(1, [this](std::size_t) { carry_out_alone(); });
  }
  /// By one thread for all: whatever way was planned, the plain loop is as good and has no phases.
  void carry_out_alone() {
    guarded([this] { loops_.for_each(0, loops_.count(), carry_out_plainly<Loop>); });
  }

  /// Of what loops and operations have thrown, the first. The target's elements are unspecified then.
  bool has_thrown() const noexcept { return has_thrown_.load(std::memory_order_relaxed); }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  using target_type = typename Loop::target_type;
  using value_type = typename Loop::value_type;
  using log = update_log<value_type>;
  /// A thread's own log is not on a line of another's.
  struct alignas(128) own_log : log {};

  template <class Job>
  void guarded(Job const& job) {
    if (has_thrown_.load(std::memory_order_relaxed)) return;
    try {
      job();
    } catch (...) {
      // Read behind the barrier that ends the phase.
      if (!has_thrown_.exchange(true, std::memory_order_relaxed)) thrown_ = std::current_exception();
    }
  }

  std::size_t share(std::size_t of, std::size_t thread, std::size_t threads) const {
    return of / threads * thread + (thread < of % threads ? thread : of % threads);
  }

  template <class Take>
  void apply(std::size_t begin, std::size_t end, Take const& take) const {
    loops_.for_each(begin, end, [&](Loop const& loop, std::size_t from, std::size_t to) {
      held<Loop> const here = loop;
      for (std::size_t i = from; i < to; ++i) take(here.key(i), here.value(i));
    });
  }

  template <class Crew>
  void partition(Crew& all) {
    std::size_t const threads = all.threads(), length = loops_.target().length();
    std::size_t const parts = length == 0 ? 0 : ((length - 1) >> plan_.shift) + 1;
    for (std::size_t begin = 0; begin < loops_.count(); begin += plan_.batch) {
      std::size_t const left = loops_.count() - begin, count = left < plan_.batch ? left : plan_.batch;
      all.each_own([&](std::size_t thread) {
        guarded([&] {
          log& mine = logs_[thread];
          mine.begin(length, plan_.shift);
          loops_.for_each(begin + share(count, thread, threads), begin + share(count, thread + 1, threads),
                          [&](Loop const& loop, std::size_t from, std::size_t to) {
                            held<Loop> const here = loop;
                            for (std::size_t i = from; i < to; ++i) mine.append(here.key(i), here.value(i));
                          });
        });
      });
      all.each(parts, [&](std::size_t part) {
        guarded([&] {
          for (own_log const& each : logs_) each.apply_part(part, loops_.target());
        });
      });
    }
  }

  /// A thread's elements begin on a line, where the array does, and have their share of the updates.
  std::size_t bound(std::size_t thread, std::size_t threads) const {
    std::size_t const length = loops_.target().length();
    if (thread == 0) return 0;
    std::size_t const after_others = sample_.quantile(thread, threads) / 64 * 64;
    return thread == threads || length < after_others ? length : after_others;
  }
  template <class Crew>
  void scan(Crew& all) {
    all.each_own([&](std::size_t thread) {
      guarded([&] {
        std::size_t const first = bound(thread, all.threads()), own = bound(thread + 1, all.threads()) - first;
        loops_.for_each(0, loops_.count(), [&](Loop const& loop, std::size_t from, std::size_t to) {
          scan(held<Loop>(loop), from, to, first, own);
        });
      });
    });
  }
  /// Keys of a stretch that a cache holds are looked at first, without a branch that nobody could predict.
  static void scan(Loop const& loop, std::size_t from, std::size_t to, std::size_t first, std::size_t own) {
    constexpr std::size_t stretch = 1024;
    std::array<std::uint32_t, stretch + 1> mine;
    for (; from < to; from += stretch) {
      std::size_t const count = to - from < stretch ? to - from : stretch;
      std::size_t found = 0;
      for (std::size_t k = 0; k < count; ++k) {
        mine[found] = static_cast<std::uint32_t>(k);
        found += loop.key(from + k) - first < own ? 1 : 0;
      }
      for (std::size_t k = 0; k < found; ++k) loop.target.apply(loop.key(from + mine[k]), loop.value(from + mine[k]));
    }
  }

  template <class Crew>
  void fold_copies(Crew& all) {
    std::size_t const threads = all.threads();
    all.each_own([&](std::size_t thread) {
      guarded([&] {
        std::byte* const copy = copy_numbered(*copies_, static_cast<std::uint32_t>(thread)).data;
        std::array<std::byte*, target_type::arrays> begin;
        for (std::size_t k = 0; k < begin.size(); ++k) begin[k] = copy + offset_of(*copies_, k);
        target_type const mine = loops_.target().at(begin.data());
        apply(share(loops_.count(), thread, threads), share(loops_.count(), thread + 1, threads),
              [&](std::size_t key, value_type const& value) { mine.apply(key, value); });
      });
    });
    auto into = loops_.target().addresses();
    all.each_own([&](std::size_t thread) { guarded([&] { fold_part(*copies_, into.data(), thread, threads); }); });
  }

  template <class Crew>
  void add_atomically(Crew& all) {
    target_type const target = loops_.target();
    all.each_own([&](std::size_t thread) {
      guarded([&] {
        apply(share(loops_.count(), thread, all.threads()), share(loops_.count(), thread + 1, all.threads()),
              [&](std::size_t key, value_type const& value) { target.apply_atomically(key, value); });
      });
    });
  }

  update_loops<Loop> loops_;
  update_plan const plan_;
  key_sample const& sample_;
  std::vector<own_log> logs_;
  std::shared_ptr<reducer_core> copies_;
  std::exception_ptr thrown_;
  std::atomic<bool> has_thrown_ = false;
};

}  // namespace coset::detail
