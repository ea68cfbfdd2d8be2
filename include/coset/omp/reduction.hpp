// SPDX-License-Identifier: Apache-2.0
// Reductions of arrays and values. Part of coset/omp.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <omp.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "coset/error.hpp"
#include "coset/omp/folds.hpp"
#include "coset/reducers/joint_reducer.hpp"

namespace coset::inline COSET_ABI::omp {
/// Thread 0 of each region reduces directly into the targets; see reduction.
struct in_place_t {};
inline constexpr in_place_t in_place;

/// `reduction(+ : a[:n], b[:m], x)` with private copies that lie on no thread's stack and that all threads fold
/// together.
///
///     coset::omp::reduction<double> sum(bins);  // outside; may serve any number of regions. The type may be left out
///     #pragma omp parallel
///     {
///       auto mine = sum.local();  // a pointer, to the compiler
///     #pragma omp for nowait
///       for (int i = 0; i < n; ++i) mine[key[i]] += 1;
///       sum.combine();
///     }
///
/// As a member of a class, made with it:
///
///     struct simulation {
///       std::vector<double> forces;
///       double fastest;
///       coset::omp::reduction<double, coset::value_of<double, coset::maximum>> step{forces, fastest};
///     };
///
/// Targets are given as for joint_reducer, and so are types; a pointer as std::span(pointer, count). One region uses a
/// reduction at a time; in nested regions each thread has a copy of its own, and copies are folded in the order in
/// which their threads came. Threads run where OMP_PLACES and OMP_PROC_BIND place them. Values that are not combined
/// are lost when the reduction is destroyed. Cost and errors are those of reducer, and so are bits, on the same number
/// of processors. Exceptions may not leave a region, but they do leave combine(), on each thread whose operation threw.
///
/// Every thread of a region has to call combine(), so it stands in no master, single, sections or branch. A wait for
/// threads that do not is told on standard error after COSET_STUCK (60 s), and ends the program after COSET_TIMEOUT. What
/// can be seen is mismatch_error: some threads are at another barrier, or call combine(nowait) where others call
/// combine(); or combine(nowait) was not called by all threads of an earlier region, whose sums are late. The latter is
/// found by the next combine() or fit(), until reset(), at the latest when the reduction ends, which says so.
///
/// Over processes, each of which has such a region, see team_over_processes:
///
///     auto threads = coset::team::adopt(omp_get_max_threads());
///     coset::mpi::team all(MPI_COMM_WORLD, *threads);
///     coset::omp::reduction sum(all, bins);
///
/// Then all threads of all processes call combine(), in regions of as many threads as the process has in the team.
/// `nowait` waits all the same. A wait for a thread of the region names the process, and after COSET_TIMEOUT all throw
/// timed_out. Bits: the same on every process, and in every run with as many processes and threads, for the same work of
/// each.
///
/// `reduction sum(coset::omp::in_place, bins)` saves making, folding and clearing one copy, as thread 0 works on the
/// targets themselves. From the first local() of a region until the combination is done, no other thread may read the
/// targets. What thread 0 reduced stays in the targets even if it is not combined, and combining::assign is not
/// possible. A region of one thread has no copy at all. Over processes (`reduction sum(coset::omp::in_place, all, bins)`) the
/// targets of all processes are part of the sum, as under MPI_IN_PLACE, and the total replaces each of them.
template <class... Written>
class reduction {
 public:
  template <class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0 &&
           !(std::same_as<std::remove_cvref_t<Things>, reduction> || ...)) explicit reduction(Things&&... things)
      : copies_(detail::as_targets<Written...>(std::forward<Things>(things)...)) {}
  template <class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0) explicit reduction(in_place_t, Things&&... things)
      : reduction(std::forward<Things>(things)...) {
    in_place_ = true;
  }
  /// Over the threads of all processes, see above.
  template <team_over_processes Team, class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0) explicit reduction(Team& all, Things&&... things)
      : reduction(std::forward<Things>(things)...) {
    all_ = region_room::processes(all);
  }
  template <team_over_processes Team, class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0) explicit reduction(in_place_t, Team& all,
                                                                               Things&&... things)
      : reduction(in_place, std::forward<Things>(things)...) {
    all_ = region_room::processes(all, true);
  }
  reduction(reduction&&) noexcept = default;
  reduction& operator=(reduction&&) noexcept = default;

  /// The calling thread's arrays and values, as joint_reducer's. clang before 16 does not accept a structured binding
  /// of them in a loop directive; bind std::get<0>(mine) to a name instead. Valid until a combination, and afterwards
  /// for the same thread of the same region.
  /// Cost: a few instructions; a function call after each combination.
  decltype(auto) local() {
    auto const number = static_cast<std::uint32_t>(omp_get_thread_num());
    if (in_place_ && number == 0 && omp_get_level() == 1) return copies_.local_in_place();
    return copies_.local(
        detail::by_claim(number), [this]() -> auto& { return region_room::folds::copy_here(copies_.core()); });
  }

  /// Collective, like a barrier: every thread of the region calls it after its updates, and after those of its tasks;
  /// several reductions are combined in the same order by all threads. On return the targets hold the result, and all
  /// tasks are complete, as behind a barrier. Outside regions one thread calls it, and it opens a region of its own where
  /// that pays.
  void combine(combining how = combining::add, destination const& where = {}) {
    require_no_target_in_use(how == combining::assign);
    if (all_)
      return region_room::folds::combine(
          all_, copies_.core(), [this] { return copies_.checked(); }, how, where);
    region_room::folds::combine(copies_.core(), copies_.checked().data(), how);
  }
  /// The same without the barrier at the end, for use just before the end of the region, which is a barrier anyway. All
  /// threads combine several reductions in the same order.
  void combine(nowait_t, combining how = combining::add) {
    if (all_) return combine(how);
    require_no_target_in_use(how == combining::assign);
    region_room::folds::combine(nowait, copies_.core(), copies_.checked().data(), how);
  }
  /// The same over processes in split phase, by threads that have joined the team and remain in it. Targets are assigned unless
  /// `how` says otherwise:
  ///
  ///     auto me = all.join(omp_get_thread_num());
  ///     auto later = sum.start_combine(*me);
  ///     …  // the next loop; its local() is another set of copies
  ///     later.wait();
  ///
  /// Collective. Twice the memory for copies, from the first call on, and if targets are added to that of a copy more; there
  /// is no third set, so who starts again has waited.
  [[nodiscard]] started_combination start_combine(member& me, combining how = combining::assign) {
    require_no_target_in_use(true);
    all_.require_own(me);
    auto const places = copies_.places();
    region_room::folds::come_as_ranks(copies_.core(), me.state());
    started_combination later;
    std::exception_ptr thrown;  // others wait at the barriers
    try {
      auto const own = static_cast<std::uint32_t>(omp_get_thread_num());
      if (others_) detail::require_not_under_way(others_->core(), me.state(), own);
      later =
          detail::start_combination(copies_.core(), places.data.data(), places.lengths.data(), me.state(), own, how);
    } catch (...) {
      thrown = std::current_exception();
      std::atomic_ref(has_failed_).store(true, std::memory_order_relaxed);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) exchange_copies();  // when all have begun
#pragma omp barrier
    if (thrown) std::rethrow_exception(thrown);
    // Throws, as the team has failed, even if this thread's part was complete before: who went on would wait for those who have
    // thrown.
    if (has_failed_) detail::run(me.state(), detail::meeting());
    if (refused_) std::rethrow_exception(refused_);
    return later;
  }
  /// The same into other arrays and values of the same lengths, for this call only; every thread names the same ones.
  template <class... Things>
  void combine_into(Things&&... things) {
    require_no_target_in_use(true);
    auto const others = [&] { return copies_.checked_others(std::forward<Things>(things)...); };
    if (all_) return region_room::folds::combine(all_, copies_.core(), others, combining::add, {});
    region_room::folds::combine(copies_.core(), others().data(), combining::add);
  }

  /// Outside regions: reads the lengths of the targets again, as joint_reducer's; values that were not combined are
  /// lost.
  void fit() {
    detail::require_no_arrivals(copies_.core());
    copies_.fit();
    others_.reset();
  }
  /// Outside regions: discards values that were not combined, for example after an operation threw.
  void reset() noexcept {
    detail::reset(copies_.core());
    if (others_) detail::reset(others_->core());
    has_failed_ = false;
  }

  std::string describe() const { return detail::describe(copies_.core()); }

 private:
  void require_no_target_in_use(bool needed) const {
    if (in_place_ && needed)
      throw argument_error("in place, thread 0 has already added to the targets: combine() can only add to them");
  }

  /// By one thread, while the others wait; no exception may leave it.
  void exchange_copies() noexcept try {
    if (!others_) {
      others_.emplace(copies_);
      others_->fit();
    }
    std::swap(copies_, *others_);
    refused_ = nullptr;
  } catch (...) {
    refused_ = std::current_exception();
  }

  detail::copies_of<Written...> copies_;
  std::optional<detail::copies_of<Written...>> others_;  ///< while the first are being combined
  std::exception_ptr refused_;
  alignas(std::atomic_ref<bool>::required_alignment) bool has_failed_ = false;  ///< some start_combine(), until reset()
  region_room::processes all_;
  bool in_place_ = false;
};

template <class... Things>
explicit reduction(Things&&...) -> reduction<detail::written_for<Things>...>;
template <class... Things>
explicit reduction(in_place_t, Things&&...) -> reduction<detail::written_for<Things>...>;
template <team_over_processes Team, class... Things>
explicit reduction(Team&, Things&&...) -> reduction<detail::written_for<Things>...>;
template <team_over_processes Team, class... Things>
explicit reduction(in_place_t, Team&, Things&&...) -> reduction<detail::written_for<Things>...>;

}  // namespace coset::omp
