// SPDX-License-Identifier: Apache-2.0
// For oneTBB programs on machines with several NUMA nodes: an arena on each node.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <concepts>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "coset/detail/visibility.h"
#include "coset/error.hpp"

namespace coset::inline COSET_ABI::tbb {

namespace task_room {

/// Keeps the first exception that leaves one of several bodies.
class first_exception {
 public:
  template <class Body>
  void guard(Body const& body) noexcept {
    try {
      body();
    } catch (...) {
      std::lock_guard const lock(keeping_);
      if (!kept_) kept_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (kept_) std::rethrow_exception(kept_);
  }

 private:
  std::mutex keeping_;
  std::exception_ptr kept_;
};

/// body(i) for [begin, end), the same i on the same threads as far as oneTBB can. Cancelling the caller's tasks does
/// not cancel this loop, as a half-done fold would be useless.
template <class Body>
void for_each_whatever_happens(std::size_t begin, std::size_t end, Body const& body) {
  ::tbb::task_group_context own(::tbb::task_group_context::isolated);
  ::tbb::parallel_for(begin, end, body, ::tbb::static_partitioner(), own);
}

}  // namespace task_room

/// One task_arena on each NUMA node, whose threads oneTBB keeps there, and loops that give each node's threads one
/// stretch.
///
///     coset::tbb::arenas nodes;
///     coset::tbb::reducer<double> sum(count);
///     nodes.parallel_for(tbb::blocked_range<std::size_t>(0, n), [&](auto const& part) {
///       auto mine = sum.local();  // on this node
///       for (auto i = part.begin(); i != part.end(); ++i) mine[key[i]] += 1;
///     });
///     sum.combine_into(bins, nodes);
///
/// oneTBB finds nodes through its library tbbbind, which Debian's libtbb12 includes; other packages may leave it out.
/// Without tbbbind, and on a machine with one node, there is one arena.
///
/// Any thread may call it except tasks of these arenas, which would wait for each other's slots. The caller works for
/// one node after the other. Bodies run to their end even if the calling task is cancelled meanwhile.
/// Errors: when all nodes have ended, the first exception that left a body is rethrown.
class arenas {
 public:
  using constraints = ::tbb::task_arena::constraints;

  arenas() : arenas(of_nodes()) {}
  /// Other arenas than one per node, for example with fewer threads. Throws argument_error if there are none.
  explicit arenas(std::vector<constraints> const& wanted) {
    if (wanted.empty()) throw argument_error("arenas: the list of constraints is empty");
    all_.reserve(wanted.size());
    for (constraints const& one : wanted) {
      all_.emplace_back(one, 0u);  // reserves no slot for callers, which are not always there
      threads_before_.push_back(threads_before_.back() + static_cast<std::size_t>(all_.back().max_concurrency()));
    }
  }
  arenas(arenas const&) = delete;
  arenas& operator=(arenas const&) = delete;

  std::size_t size() const noexcept { return all_.size(); }
  ::tbb::task_arena& operator[](std::size_t node) noexcept { return all_[node]; }
  /// Threads of all arenas together.
  std::size_t concurrency() const noexcept { return threads_before_.back(); }

  /// body(k) inside arena k, in all arenas at once where threads are free. Returns when all bodies have ended. Cost:
  /// waking a thread for each arena but the first.
  template <std::invocable<std::size_t> Body>
  COSET_PER_COPY void run(Body const& body) {
    std::vector<group> others(size() - 1);
    task_room::first_exception thrown;
    auto const guarded = [&](std::size_t k) { thrown.guard([&] { body(k); }); };
    thrown.guard([&] {
      for (std::size_t k = 1; k < size(); ++k) all_[k].enqueue(others[k - 1].tasks.defer([&, k] { guarded(k); }));
      all_[0].execute([&] { guarded(0); });
    });
    // One group per arena, as in oneTBB's guide: a thread that waits for the group inside the arena works there
    // meanwhile.
    for (std::size_t k = 1; k < size(); ++k) all_[k].execute([&] { others[k - 1].tasks.wait(); });
    thrown.rethrow();
  }

  /// Arena k's share of `count` items, by its number of threads: [first, second).
  std::pair<std::size_t, std::size_t> share(std::size_t k, std::size_t count) const noexcept {
    return {of_threads(threads_before_[k], count), of_threads(threads_before_[k + 1], count)};
  }

  /// body(part) for parts of the range, like tbb::parallel_for: each arena gets one stretch, and each of its threads a
  /// stretch of that, the same stretches in every call.
  template <std::integral Index, std::invocable<::tbb::blocked_range<Index> const&> Body>
  COSET_PER_COPY void parallel_for(::tbb::blocked_range<Index> const& range, Body const& body) {
    run([&](std::size_t k) {
      auto const [begin, end] = share(k, range.size());
      auto const at = [&](std::size_t i) { return static_cast<Index>(range.begin() + static_cast<Index>(i)); };
      ::tbb::task_group_context own(::tbb::task_group_context::isolated);
      ::tbb::parallel_for(::tbb::blocked_range<Index>(at(begin), at(end), range.grainsize()), body,
                          ::tbb::static_partitioner(), own);
    });
  }

 private:
  struct group {
    ::tbb::task_group_context own{::tbb::task_group_context::isolated};
    ::tbb::task_group tasks{own};
  };

  static std::vector<constraints> of_nodes() {
    std::vector<constraints> all;
    for (::tbb::numa_node_id const node : ::tbb::info::numa_nodes()) all.push_back(constraints{}.set_numa_id(node));
    return all;
  }

  std::size_t of_threads(std::size_t threads, std::size_t count) const noexcept {
    std::size_t const all = concurrency();
    return count / all * threads + count % all * threads / all;
  }

  std::vector<::tbb::task_arena> all_;
  std::vector<std::size_t> threads_before_{0};  ///< [arena]; the last: all threads
};

}  // namespace coset::tbb
