// SPDX-License-Identifier: Apache-2.0
// Whole loops that add into arrays, by OpenMP's threads. Part of coset/omp.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <omp.h>

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "coset/updates/prepared.hpp"

namespace coset::inline COSET_ABI::omp {
namespace region_room {

/// By one of the threads that are present, which may be fewer than planned.
template <class Updates>
void carry_out_here(Updates& shared, std::size_t planned) {
  shared.carry_out(static_cast<std::size_t>(omp_get_thread_num()), static_cast<std::size_t>(omp_get_num_threads()),
                   planned, [] {
#pragma omp barrier
                   });
}

/// By a region of its own.
template <class Loop>
void carry_out_outside(Loop const& loop, scatter_options const& options) {
  detail::carry_out(loop, static_cast<std::size_t>(omp_get_max_threads()), options,
                    [](auto& shared, std::size_t planned) {
#pragma omp parallel num_threads(static_cast <int>(planned))
                      carry_out_here(shared, planned);
                    });
}

/// By all threads of the region, each of which has the same loop: one thread's is carried out. No exception may leave a
/// single.
template <class Loop>
void carry_out_inside(Loop const& loop, scatter_options const& options) {
  std::shared_ptr<detail::shared_updates<Loop>> shared;
  std::exception_ptr refused;
  auto const threads = static_cast<std::size_t>(omp_get_num_threads());
#pragma omp single copyprivate(shared, refused)
  try {
    if (loop.count > 0)
      shared = std::make_shared<detail::shared_updates<Loop>>(std::vector<Loop>{loop}, threads, options);
  } catch (...) {
    refused = std::current_exception();
  }
  if (refused) std::rethrow_exception(refused);
  if (!shared) return;
  carry_out_here(*shared, threads);
  shared->rethrow();
}

template <class Loop>
void carry_out(Loop const& loop, scatter_options const& options) {
  if (omp_get_level() == 0) return carry_out_outside(loop, options);
  carry_out_inside(loop, options);
}

}  // namespace region_room

/// As coset::scatter_add() by a team, by OpenMP's threads.
///
///     coset::omp::scatter_add(bins, keys, weights);
///
/// Outside regions one thread calls it, and it opens a region of omp_get_max_threads(), which may get fewer. Inside a region
/// all of its threads call it, with the same arguments, as they come to an `omp for`: so it stands in no master, single,
/// sections or branch, nor in a task. It ends with a barrier, and does not begin with one: where threads of the region have
/// made keys and values, a barrier stands before it. In nested regions the threads of the innermost share the work. Whether
/// all threads come, and with the same arguments, is not looked at: those that miss are waited for, as at any barrier.
/// Bits: as there, by the number of threads: outside regions of those asked for, inside of those that the region has.
/// Errors: as there, on every thread of the region, so that each of them can catch them: exceptions may not leave a region.
template <class Target, class Keys, class Values = detail::count_one, class Op = plus>
requires(!std::integral<Keys>) void scatter_add(Target&& target, Keys const& keys, Values const& values = {},
                                                Op const& op = {}, scatter_options const& options = {}) {
  detail::with_written_loop(std::forward<Target>(target), keys, values, op,
                            [&](auto const& loop) { region_room::carry_out(loop, options); });
}
template <class Target, std::integral Count, class Keys, class Values = detail::count_one, class Op = plus>
void scatter_add(Target&& target, Count iterations, Keys const& keys, Values const& values = {}, Op const& op = {},
                 scatter_options const& options = {}) {
  detail::with_written_loop(
      std::forward<Target>(target), keys, values, op, [&](auto const& loop) { region_room::carry_out(loop, options); },
      iterations);
}

}  // namespace coset::omp
