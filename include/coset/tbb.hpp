// SPDX-License-Identifier: Apache-2.0
// For oneTBB programs: reductions of arrays in tasks, collectives of tasks, NUMA nodes. Needs oneTBB; the library
// itself does not.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "coset/error.hpp"
#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "coset/tbb/arenas.hpp"
#include "coset/tbb/folds.hpp"
#include "coset/tbb/scatter_add.hpp"
#include "coset/tbb/team.hpp"

namespace coset::inline COSET_ABI::tbb {

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
///
/// Over processes, each of which has tasks, see team_over_processes:
///
///     auto threads = coset::team::adopt(1);  // the thread that combines
///     coset::mpi::team all(MPI_COMM_WORLD, *threads);
///     coset::tbb::reducer sum(all, bins);
///     …  // tasks of any arenas, as above
///     sum.combine();
///
/// Then one thread of each process combines, as thread 0 of the team; under MPI_THREAD_FUNNELED it is the one that initialised
/// MPI. Tasks fold the copies of this process, then that thread combines. Or the team has threads of its own (coset::team(), as
/// many as shall combine; they sleep otherwise): each of these takes some copies as they are.
template <class T, class Copies>
class reducer_of {
 public:
  template <class... Arguments>
  explicit reducer_of(std::size_t count, Arguments&&... arguments)
      : copies_(count, std::forward<Arguments>(arguments)...) {}
  /// For combine() into this array.
  template <class... Arguments>
  explicit reducer_of(std::span<T> into, Arguments&&... arguments)
      : into_(into), copies_(into.size(), std::forward<Arguments>(arguments)...) {}
  /// Over processes, see above: with `count` for combine_into(), or with an array.
  template <team_over_processes Team, class... Arguments>
  requires(sizeof...(Arguments) > 0) explicit reducer_of(Team& all, Arguments&&... arguments)
      : reducer_of(std::forward<Arguments>(arguments)...) {
    all_ = task_room::processes(all);
  }

  std::size_t size() const noexcept { return copies_.size(); }
  auto local() { return copies_.local(); }

  /// into[i] = into[i] ∘ all values reduced into element i, or only those values; afterwards all copies are empty.
  void combine_into(std::span<T> into, combining how = combining::add, destination const& where = {}) {
    combine_by(into, how, where);
  }
  /// The same by the threads of all nodes; each node's threads fold one stretch of the array.
  void combine_into(std::span<T> into, arenas& nodes, combining how = combining::add, destination const& where = {}) {
    combine_by(into, how, where, nodes);
  }
  /// The same into the array that the reducer was made with.
  void combine(combining how = combining::add, destination const& where = {}) { combine_by(into_, how, where); }
  void combine(arenas& nodes, combining how = combining::add, destination const& where = {}) {
    combine_by(into_, how, where, nodes);
  }

  /// As coset::reducer's; not over processes.
  std::span<T const> view() { return view_by(); }
  std::span<T const> view(arenas& nodes) { return view_by(nodes); }

  void reset() noexcept { copies_.reset(); }
  std::string describe() const { return copies_.describe(); }

 private:
  /// `by`: nodes, or nothing for the tasks of the caller's arena.
  template <class... By>
  void combine_by(std::span<T> into, combining how, destination const& where, By&... by) {
    auto const place = [&] {
      std::size_t const length = into.size();
      detail::require_lengths(copies_.core(), &length);
      return std::array<void*, 1>{into.data()};
    };
    if (!all_) return task_room::fold(copies_.core(), place().data(), how, by...);
    task_room::combine(all_, copies_.core(), place, how, where,
                       [&] { task_room::fold(copies_.core(), nullptr, combining::add, by...); });
  }
  template <class... By>
  std::span<T const> view_by(By&... by) {
    if (all_) throw argument_error("view() over processes would show what one process has: combine instead");
    std::span const total(reinterpret_cast<T const*>(detail::total_of(copies_.core()).data), size());
    task_room::fold(copies_.core(), nullptr, combining::add, by...);
    return total;
  }

  std::span<T> into_;
  Copies copies_;
  task_room::processes all_;
};

template <class T, class Op = plus>
class reducer : public reducer_of<T, coset::reducer<T, Op>> {
 public:
  using reducer_of<T, coset::reducer<T, Op>>::reducer_of;
};
template <class T, class Op = plus>
class sparse_reducer : public reducer_of<T, coset::sparse_reducer<T, Op>> {
 public:
  using reducer_of<T, coset::sparse_reducer<T, Op>>::reducer_of;
};

template <class Array>
explicit reducer(Array&&) -> reducer<detail::lasting_element<Array>>;
template <class Array, class Op>
explicit reducer(Array&&, Op, detail::lasting_element<Array>) -> reducer<detail::lasting_element<Array>, Op>;
template <team_over_processes Team, class Array>
explicit reducer(Team&, Array&&) -> reducer<detail::lasting_element<Array>>;
template <team_over_processes Team, class Array, class Op>
explicit reducer(Team&, Array&&, Op, detail::lasting_element<Array>) -> reducer<detail::lasting_element<Array>, Op>;
template <class Array>
explicit sparse_reducer(Array&&, sparse_options const& = {}) -> sparse_reducer<detail::lasting_element<Array>>;
template <class Array, class Op>
explicit sparse_reducer(Array&&, Op, detail::lasting_element<Array>, sparse_options const& = {})
    -> sparse_reducer<detail::lasting_element<Array>, Op>;
template <team_over_processes Team, class Array>
explicit sparse_reducer(Team&, Array&&, sparse_options const& = {}) -> sparse_reducer<detail::lasting_element<Array>>;
template <team_over_processes Team, class Array, class Op>
explicit sparse_reducer(Team&, Array&&, Op, detail::lasting_element<Array>, sparse_options const& = {})
    -> sparse_reducer<detail::lasting_element<Array>, Op>;

/// Several arrays and values at once, as joint_reducer, combined by tasks. The type may be left out, as there.
///
///     coset::tbb::reduction<double, float, coset::value_of<double, coset::maximum>> sums(charge, current, fastest);
///     tbb::parallel_for(range, [&](auto const& part) {
///       auto [q, j, top] = sums.local();
///       …
///     });
///     sums.combine();
///
/// Over processes as reducer: `reduction sums(all, charge, current)`.
template <class... Written>
class reduction {
 public:
  template <class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0 &&
           !(std::same_as<std::remove_cvref_t<Things>, reduction> || ...)) explicit reduction(Things&&... things)
      : copies_(detail::as_targets<Written...>(std::forward<Things>(things)...)) {}
  template <team_over_processes Team, class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0) explicit reduction(Team& all, Things&&... things)
      : reduction(std::forward<Things>(things)...) {
    all_ = task_room::processes(all);
  }
  reduction(reduction&&) noexcept = default;
  reduction& operator=(reduction&&) noexcept = default;

  decltype(auto) local() {
    return copies_.local(
        detail::as_own, [this]() -> auto& { return detail::copy_of_this_thread(copies_.core()); });
  }
  void combine(combining how = combining::add, destination const& where = {}) { combine_by(how, where); }
  void combine(arenas& nodes, combining how = combining::add, destination const& where = {}) {
    combine_by(how, where, nodes);
  }
  void fit() { copies_.fit(); }
  void reset() noexcept { detail::reset(copies_.core()); }
  std::string describe() const { return detail::describe(copies_.core()); }

 private:
  template <class... By>
  void combine_by(combining how, destination const& where, By&... by) {
    if (!all_) return task_room::fold(copies_.core(), copies_.checked().data(), how, by...);
    task_room::combine(
        all_, copies_.core(), [this] { return copies_.checked(); }, how, where,
        [&] { task_room::fold(copies_.core(), nullptr, combining::add, by...); });
  }

  detail::copies_of<Written...> copies_;
  task_room::processes all_;
};

template <class... Things>
explicit reduction(Things&&...) -> reduction<detail::written_for<Things>...>;
template <team_over_processes Team, class... Things>
explicit reduction(Team&, Things&&...) -> reduction<detail::written_for<Things>...>;

}  // namespace coset::tbb
