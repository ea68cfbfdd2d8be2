// SPDX-License-Identifier: Apache-2.0
// For OpenMP programs: reductions of arrays, and the threads of a region as ranks. Needs the compiler's OpenMP; the
// library itself does not. Tested with the runtimes of GNU (libgomp) and LLVM (libomp).
#pragma once

#ifndef _OPENMP
#error "coset/omp.hpp is for translation units that are compiled with OpenMP (-fopenmp)"
#endif

#include <omp.h>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coset/joint_reducer.hpp"
#include "coset/sparse_reducer.hpp"
#include "coset/team.hpp"

namespace coset::omp {

/// As OpenMP's nowait: what was combined is there after the next barrier, the end of the region say. Until then no thread
/// reduces or combines again.
struct nowait_t {};
inline constexpr nowait_t nowait;

/// Thread 0 of each region reduces straight into the targets; see reduction.
struct in_place_t {};
inline constexpr in_place_t in_place;

namespace region_room {

template <class Thing>
concept target = !std::same_as<std::remove_cvref_t<Thing>, in_place_t> && detail::reduced_into<Thing>;

/// Asks again because clang before 16 makes a guide's type before it looks at the guide's constraints.
template <target Thing>
using target_of = detail::target_of<Thing>;

/// Folds by the threads of a region. `into` as in detail::fold_part().
class folds {
 public:
  /// The copy for the calling thread: that of its number in the region, so that results depend on the number of threads
  /// and the schedule of the loop alone. In nested regions, whose numbers are not the only ones, one for itself, as
  /// where the runtime has given the number to another thread than in the region before, until the next combination.
  static detail::private_copy& copy_here(detail::reducer_core& core) {
    if (omp_get_level() > 1) return detail::copy_of_this_thread(core);
    return detail::copy_claimed(core, static_cast<std::uint32_t>(omp_get_thread_num()));
  }

  void combine(detail::reducer_core& core, void* const* into, combining how) {
    if (omp_get_level() == 0) return combine_outside(core, into, how);
    if (omp_in_parallel() == 0) return alone(core, into, how);  // the only thread of its region
    // By an operation: the others wait at the barrier.
    std::exception_ptr thrown;
    try {
      combine(nowait, core, into, how);
    } catch (...) {
      thrown = std::current_exception();
    }
#pragma omp barrier
    if (thrown) std::rethrow_exception(thrown);
  }

  void combine(nowait_t, detail::reducer_core& core, void* const* into, combining how) {
    int const threads = omp_get_num_threads(), self = omp_get_thread_num();
    if (one_suffices(core, threads)) {
      // Nobody waits: who comes last folds it all. Acquires what the others released by the same operation.
      if (state_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != threads) return;
      state_->arrived.store(0, std::memory_order_relaxed);
      return alone(core, into, how);
    }
    if (self == 0) detail::begin_round(core);
#pragma omp barrier
    if (self == 0) detail::renew_claims(core);
    auto const thread = static_cast<std::size_t>(self), all = static_cast<std::size_t>(threads);
    if (!detail::should_fold_round(core, all, how)) return detail::fold_part(core, into, thread, all, how);
    detail::fold_round(core, into, thread, all, how);
  }

  void reset(detail::reducer_core& core) noexcept {
    state_->arrived = 0;
    detail::reset(core);
  }

 private:
  /// Whether one thread folds it all before a barrier would have ended: the same answer on every thread of a region,
  /// whatever copies there are. Where threads share processors, barriers take turns: of 1,000 to 10,000 elements and 4
  /// threads on 2 cores a step of a histogram, a force loop or a transpose takes 7 to 28 % less (bench/programs).
  static bool one_suffices(detail::reducer_core const& core, int threads) {
    auto const all = static_cast<std::size_t>(threads);
    return detail::worthwhile_parts(core, all) < (detail::share_processors(all) ? 64 : 4);
  }

  static void alone(detail::reducer_core& core, void* const* into, combining how) {
    detail::renew_claims(core);
    detail::fold_part(core, into, 0, 1, how);
  }

  /// No region where nobody ever reduced: OpenMP would make threads for the one that asks, and have fewer to spin with
  /// from then on.
  static void combine_outside(detail::reducer_core& core, void* const* into, combining how) {
    if (!detail::has_copies(core) || one_suffices(core, omp_get_max_threads())) return alone(core, into, how);
    detail::renew_claims(core);
    std::exception_ptr thrown;  // none may leave the region
#pragma omp parallel
    try {
      detail::fold_part(core, into, static_cast<std::size_t>(omp_get_thread_num()),
                        static_cast<std::size_t>(omp_get_num_threads()), how);
    } catch (...) {
#pragma omp critical(coset_reduction)
      thrown = std::current_exception();
    }
    if (thrown) std::rethrow_exception(thrown);
  }

  struct alignas(64) state {
    std::atomic<int> arrived = 0;
  };
  std::unique_ptr<state> state_ = std::make_unique<state>();
};

}  // namespace region_room

/// `reduction(+ : a[:n], b[:m], x)` with private copies that are nobody's stack, and that all threads fold together.
///
///     coset::omp::reduction sum(bins);  // outside; may serve any number of regions
///     #pragma omp parallel
///     {
///       auto mine = sum.local();  // a pointer, to the compiler
///     #pragma omp for nowait
///       for (int i = 0; i < n; ++i) mine[key[i]] += 1;
///       sum.combine();
///     }
///
/// What is reduced into, and how several things are: joint_reducer, into(). Of pointers: std::span(pointer, count). One
/// region uses it at a time; in nested ones threads have copies for themselves, in the order in which they come. Threads
/// run where OMP_PLACES and OMP_PROC_BIND have them. What is not combined is lost when it dies. Cost and errors as
/// reducer's, and bits, on as many processors; exceptions may not leave a region, but they do leave combine(), on each
/// thread whose operation threw.
///
/// `reduction sum(coset::omp::in_place, bins)`: one copy less to make, fold and clear, as thread 0 has the targets
/// themselves. So nobody else may look at them from the first local() of a region on until the combination is done, what
/// thread 0 reduced stays where it is whether combined or not, and nothing can be assigned. A region of one thread has
/// no copy at all.
template <class... Targets>
class reduction {
 public:
  template <region_room::target... Things>
  requires(sizeof...(Things) == sizeof...(Targets)) explicit reduction(Things&&... things)
      : copies_(detail::as_target(std::forward<Things>(things))...) {}
  template <region_room::target... Things>
  requires(sizeof...(Things) == sizeof...(Targets)) explicit reduction(in_place_t, Things&&... things)
      : reduction(std::forward<Things>(things)...) {
    in_place_ = true;
  }
  reduction(reduction&&) noexcept = default;
  reduction& operator=(reduction&&) noexcept = default;

  /// The calling thread's arrays and values, as joint_reducer's. clang before 16 takes no structured binding of them into
  /// a loop directive; std::get<0>(mine) has a name that it takes. Good until a combination, and after it for the same
  /// thread of the same region. Cost: a few instructions; a call after each combination.
  decltype(auto) local() {
    auto const number = static_cast<std::uint32_t>(omp_get_thread_num());
    if (in_place_ && number == 0 && omp_get_level() == 1) return copies_.local_in_place();
    return copies_.local(
        detail::by_claim(number), [this]() -> auto& { return region_room::folds::copy_here(copies_.core()); });
  }

  /// Collective, like a barrier: every thread of the region calls it after its updates. On return the targets have
  /// everything. Outside of regions: by whoever calls, with a region of its own where that pays.
  void combine(combining how = combining::add) {
    require_no_target_in_use(how == combining::assign);
    folds_.combine(copies_.core(), copies_.checked().data(), how);
  }
  /// The same without the barrier at the end: where the end of the region is one anyway.
  void combine(nowait_t, combining how = combining::add) {
    require_no_target_in_use(how == combining::assign);
    folds_.combine(nowait, copies_.core(), copies_.checked().data(), how);
  }
  /// The same into other things of the same lengths, for this time: every thread names the same.
  template <class... Things>
  void combine_into(Things&&... things) {
    require_no_target_in_use(true);
    folds_.combine(copies_.core(), copies_.checked_others(std::forward<Things>(things)...).data(), combining::add);
  }

  /// Outside of regions, as joint_reducer's: the lengths of the targets are taken anew, what was not combined is lost.
  void fit() { copies_.fit(); }
  /// Outside of regions: forgets what was not combined, as after an operation that threw.
  void reset() noexcept { folds_.reset(copies_.core()); }

  std::string describe() const { return detail::describe(copies_.core()); }

 private:
  void require_no_target_in_use(bool needed) const {
    if (in_place_ && needed)
      throw argument_error("in place, thread 0 has added to the targets: nothing can replace that");
  }

  detail::joint_copies<Targets...> copies_;
  region_room::folds folds_;
  bool in_place_ = false;
};

template <region_room::target... Things>
explicit reduction(Things&&...) -> reduction<region_room::target_of<Things>...>;
template <region_room::target... Things>
explicit reduction(in_place_t, Things&&...) -> reduction<region_room::target_of<Things>...>;

/// The same for one large array of which a region touches little; see sparse_reducer. local() gives a sparse_array.
template <element T, coset::reduction<T> Op = plus>
class sparse_reduction {
 public:
  explicit sparse_reduction(std::span<T> array, Op op = {}, sparse_options const& options = {})  //
      requires has_identity<Op, T> : sparse_reduction(array, op, identity_of<T, Op>(), options) {}
  sparse_reduction(std::span<T> array, Op op, T identity, sparse_options const& options = {})
      : into_(array), copies_(array.size(), std::move(op), identity, options) {}

  /// Cost: some nanoseconds; to be called once per region and thread.
  sparse_array<T> local() {
    if (omp_get_level() > 1) return copies_.local();
    return copies_.claimed(static_cast<std::uint32_t>(omp_get_thread_num()));
  }

  /// As reduction's.
  void combine(combining how = combining::add) { folds_.combine(copies_.core(), place().data(), how); }
  void combine(nowait_t, combining how = combining::add) {
    folds_.combine(nowait, copies_.core(), place().data(), how);
  }
  void reset() noexcept { folds_.reset(copies_.core()); }
  std::string describe() const { return copies_.describe(); }

 private:
  std::array<void*, 1> place() const { return {into_.data()}; }

  std::span<T> into_;
  sparse_reducer<T, Op> copies_;
  region_room::folds folds_;
};

namespace region_room {

/// Adopted teams that no region uses at the moment, by size.
class teams {
 public:
  static std::shared_ptr<team> lend(rank_t ranks) {
    teams& all = instance();
    std::unique_ptr<team> lent;
    {
      std::lock_guard const lock(all.mutex_);
      auto& free = all.free_[ranks];
      if (!free.empty()) {
        lent = std::move(free.back());
        free.pop_back();
      }
    }
    if (!lent) lent = team::adopt(ranks);
    return {lent.release(), [](team* back) { instance().take_back(std::unique_ptr<team>(back)); }};
  }

 private:
  static teams& instance() {
    static teams& only = *new teams;  // threads of OpenMP may end after statics
    return only;
  }
  void take_back(std::unique_ptr<team> back) {
    std::lock_guard const lock(mutex_);
    free_[back->size()].push_back(std::move(back));
  }

  std::mutex mutex_;
  std::map<rank_t, std::vector<std::unique_ptr<team>>> free_;
};

/// The same team for all threads of the region.
inline std::shared_ptr<team> team_of_region() {
  std::shared_ptr<team> shared;
#pragma omp single copyprivate(shared)
  shared = teams::lend(static_cast<rank_t>(omp_get_num_threads()));
  return shared;
}

}  // namespace region_room

/// This thread of the region as a rank, for every collective; as a variable inside the region.
///
///     #pragma omp parallel
///     {
///       coset::omp::member_here me;
///       coset::allreduce(me, array);
///     }
///
/// Collective: every thread of the region makes one, and uses it itself; ranks are the numbers of the threads. Nothing
/// is pinned. Cost: some µs per region; the first of a size makes a team, which stays for later ones.
class member_here {
 public:
  member_here()
      : team_(region_room::team_of_region()), guard_(team_->join(static_cast<rank_t>(omp_get_thread_num()))) {}

  operator member&() noexcept { return guard_; }
  member& operator*() noexcept { return *guard_; }
  member* operator->() noexcept { return guard_.operator->(); }

 private:
  std::shared_ptr<team> team_;
  member_guard guard_;
};

}  // namespace coset::omp
