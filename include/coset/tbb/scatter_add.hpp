// SPDX-License-Identifier: Apache-2.0
// Whole loops that add into arrays, by oneTBB's tasks. Part of coset/tbb.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <concepts>
#include <cstddef>
#include <utility>

#include "coset/tbb/arenas.hpp"
#include "coset/updates/prepared.hpp"

namespace coset::inline COSET_ABI::tbb {
namespace task_room {

/// Phases are loops of tasks, which the calling thread waits for. Cancelling the caller's tasks does not cancel them: a
/// target that took half of the updates would be useless.
struct tasks_crew {
  std::size_t planned;

  std::size_t threads() const noexcept { return planned; }
  /// Jobs are of different lengths.
  template <class Job>
  void each(std::size_t jobs, Job const& job) const {
    ::tbb::task_group_context own(::tbb::task_group_context::isolated);
    ::tbb::parallel_for(std::size_t{0}, jobs, job, ::tbb::auto_partitioner(), own);
  }
  template <class Job>
  void each_own(Job const& job) const {
    for_each_whatever_happens(0, planned, job);
  }
};

template <class Loop>
void carry_out(Loop const& loop, scatter_options const& options) {
  detail::carry_out(loop, static_cast<std::size_t>(::tbb::this_task_arena::max_concurrency()), options,
                    [](auto& shared, std::size_t planned) {
                      // While it waits the thread takes no task of a loop around this call, which might need what it holds.
                      ::tbb::this_task_arena::isolate([&] { shared.carry_out(tasks_crew{planned}); });
                    });
}

}  // namespace task_room

/// As coset::scatter_add() by a team, by tasks of the calling thread's arena.
///
///     coset::tbb::scatter_add(bins, keys, weights);
///
/// One thread or task calls it, and works until all is done. Several may call it at once, for targets that share no element.
/// Bits: as there, by the concurrency of the arena.
template <class Target, class Keys, class Values = detail::count_one, class Op = plus>
requires(!std::integral<Keys>) void scatter_add(Target&& target, Keys const& keys, Values const& values = {},
                                                Op const& op = {}, scatter_options const& options = {}) {
  detail::with_written_loop(std::forward<Target>(target), keys, values, op,
                            [&](auto const& loop) { task_room::carry_out(loop, options); });
}
template <class Target, std::integral Count, class Keys, class Values = detail::count_one, class Op = plus>
void scatter_add(Target&& target, Count iterations, Keys const& keys, Values const& values = {}, Op const& op = {},
                 scatter_options const& options = {}) {
  detail::with_written_loop(
      std::forward<Target>(target), keys, values, op, [&](auto const& loop) { task_room::carry_out(loop, options); },
      iterations);
}

}  // namespace coset::tbb
