// SPDX-License-Identifier: Apache-2.0
// For oneTBB programs: reductions of arrays in tasks, collectives of tasks, NUMA nodes. Needs oneTBB; the library
// itself does not.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <oneapi/tbb/task_arena.h>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "coset/detail/visibility.h"
#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "coset/tbb/arenas.hpp"
#include "coset/tbb/scatter_add.hpp"
#include "coset/tbb/team.hpp"

namespace coset::inline COSET_ABI::tbb {

namespace task_room {

/// Fewer parts than worthwhile_parts() says: waking workers takes longer than folding some parts.
inline std::size_t parts_for(detail::reducer_core const& core, std::size_t threads) {
  std::size_t const parts = detail::worthwhile_parts(core, threads) / 4;
  return parts < threads ? parts : threads;
}

/// These are templates, although all reducers have the same core, so that compilers make oneTBB's loops only for programs
/// that fold. oneTBB keeps their bodies behind virtual functions.
template <std::same_as<detail::reducer_core> Core>
COSET_PER_COPY void fold_parts(Core& core, void* const* into, combining how, std::size_t begin, std::size_t end,
                               std::size_t parts) {
  for_each_whatever_happens(begin, end, [&](std::size_t part) { detail::fold_part(core, into, part, parts, how); });
}

/// Folds by tasks of the calling thread's arena. `into` as in detail::fold_part().
template <std::same_as<detail::reducer_core> Core>
COSET_PER_COPY void fold(Core& core, void* const* into, combining how) {
  auto const parts = parts_for(core, static_cast<std::size_t>(::tbb::this_task_arena::max_concurrency()));
  if (parts <= 1) return detail::fold_part(core, into, 0, 1, how);
  detail::sole_combination const alone(core);
  fold_parts(core, into, how, 0, parts, parts);
}
/// Folds by the threads of all nodes; each node's threads fold one stretch of the arrays.
template <std::same_as<detail::reducer_core> Core>
COSET_PER_COPY void fold(Core& core, void* const* into, combining how, arenas& nodes) {
  auto const parts = parts_for(core, nodes.concurrency());
  if (parts <= 1) return detail::fold_part(core, into, 0, 1, how);
  detail::sole_combination const alone(core);
  nodes.run([&](std::size_t k) {
    auto const [begin, end] = nodes.share(k, parts);
    fold_parts(core, into, how, begin, end, parts);
  });
}

}  // namespace task_room

/// A reducer whose copies are folded by tasks of the calling thread's arena. It is for arrays what combinable and
/// enumerable_thread_specific are for single values.
///
///     coset::tbb::reducer<double> sum(count);
///     tbb::parallel_for(range, [&](auto const& part) {
///       auto mine = sum.local();
///       for (auto i = part.begin(); i != part.end(); ++i) mine[key[i]] += 1;
///     });
///     sum.combine_into(bins);
///
/// local() belongs to the thread, so call it inside the task and do not keep it across a wait for other tasks. Combine
/// once, when all these tasks have ended: two combinations at the same time throw argument_error, and what a task
/// reduces during one may be lost. No task waits for another. `Copies` is coset::reducer<T, Op> or
/// coset::sparse_reducer<T, Op>, whose rules hold here too.
template <class T, class Copies>
class reducer_of {
 public:
  template <class... Arguments>
  explicit reducer_of(std::size_t count, Arguments&&... arguments)
      : copies_(count, std::forward<Arguments>(arguments)...) {}

  std::size_t size() const noexcept { return copies_.size(); }
  auto local() { return copies_.local(); }

  /// into[i] = into[i] ∘ all values reduced into element i, or only those values; afterwards all copies are empty.
  void combine_into(std::span<T> into, combining how = combining::add) {
    void* const to = checked(into);
    task_room::fold(copies_.core(), &to, how);
  }
  /// The same by the threads of all nodes; each node's threads fold one stretch of the array.
  void combine_into(std::span<T> into, arenas& nodes, combining how = combining::add) {
    void* const to = checked(into);
    task_room::fold(copies_.core(), &to, how, nodes);
  }

  /// As coset::reducer's.
  std::span<T const> view() {
    auto const total = of_total();
    task_room::fold(copies_.core(), nullptr, combining::add);
    return total;
  }
  std::span<T const> view(arenas& nodes) {
    auto const total = of_total();
    task_room::fold(copies_.core(), nullptr, combining::add, nodes);
    return total;
  }

  void reset() noexcept { copies_.reset(); }
  std::string describe() const { return copies_.describe(); }

 private:
  void* checked(std::span<T> into) const {
    std::size_t const length = into.size();
    detail::require_lengths(copies_.core(), &length);
    return into.data();
  }
  std::span<T const> of_total() const {
    return {reinterpret_cast<T const*>(detail::total_of(copies_.core()).data), size()};
  }

  Copies copies_;
};

template <class T, class Op = plus>
using reducer = reducer_of<T, coset::reducer<T, Op>>;
template <class T, class Op = plus>
using sparse_reducer = reducer_of<T, coset::sparse_reducer<T, Op>>;

/// Several arrays and values at once, as joint_reducer, combined by tasks. The type may be left out, as there.
///
///     coset::tbb::reduction<double, float, coset::value_of<double, coset::maximum>> sums(charge, current, fastest);
///     tbb::parallel_for(range, [&](auto const& part) {
///       auto [q, j, top] = sums.local();
///       …
///     });
///     sums.combine();
template <class... Written>
class reduction {
 public:
  template <class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0 &&
           !(std::same_as<std::remove_cvref_t<Things>, reduction> || ...)) explicit reduction(Things&&... things)
      : copies_(detail::as_targets<Written...>(std::forward<Things>(things)...)) {}
  reduction(reduction&&) noexcept = default;
  reduction& operator=(reduction&&) noexcept = default;

  decltype(auto) local() {
    return copies_.local(
        detail::as_own, [this]() -> auto& { return detail::copy_of_this_thread(copies_.core()); });
  }
  void combine(combining how = combining::add) { task_room::fold(copies_.core(), copies_.checked().data(), how); }
  void combine(arenas& nodes, combining how = combining::add) {
    task_room::fold(copies_.core(), copies_.checked().data(), how, nodes);
  }
  void fit() { copies_.fit(); }
  void reset() noexcept { detail::reset(copies_.core()); }
  std::string describe() const { return detail::describe(copies_.core()); }

 private:
  detail::copies_of<Written...> copies_;
};

template <class... Things>
explicit reduction(Things&&...) -> reduction<detail::written_for<Things>...>;

}  // namespace coset::tbb
