// SPDX-License-Identifier: Apache-2.0
// For OpenMP programs: reductions of arrays, and the threads of a region as ranks. Needs the compiler's OpenMP; the
// library itself does not. Tested with the runtimes of GNU (libgomp) and LLVM (libomp).
#pragma once

#include "coset/detail/cxx20.hpp"

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
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coset/detail/visibility.h"
#include "coset/omp/scatter_add.hpp"
#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI::omp {

/// Like OpenMP's nowait: the result is in the targets after the next barrier, for example at the end of the region.
/// Until then no thread may reduce or combine again.
struct nowait_t {};
inline constexpr nowait_t nowait;

/// Thread 0 of each region reduces directly into the targets; see reduction.
struct in_place_t {};
inline constexpr in_place_t in_place;

/// A team over processes, whose threads are those of the regions that use it: coset::mpi::team over team::adopt().
template <class Team>
concept team_over_processes = requires(Team& all, rank_t thread) {
  { all.join(thread) } -> std::same_as<member_guard>;
  { all.processes() } -> std::convertible_to<int>;
  { all.threads() } -> std::convertible_to<rank_t>;
};

namespace region_room {

/// The same without its type, and so without MPI. Empty: the threads of a region are all there are.
class processes {
 public:
  processes() = default;
  /// One process needs no ranks: its threads combine as those of any region.
  template <team_over_processes Team>
  explicit processes(Team& all) : threads_(static_cast<int>(all.threads())) {
    if (all.processes() == 1) return;
    all_ = &all;
    join_ = [](void* of, rank_t thread) { return static_cast<Team*>(of)->join(thread); };
  }

  explicit operator bool() const noexcept { return all_ != nullptr; }
  int threads() const noexcept { return threads_; }
  /// The calling thread of a region, as a rank of all. Throws argument_error in nested regions and in regions of more threads
  /// than this process has in the team; join() does in smaller ones.
  member_guard join() const {
    auto const thread = static_cast<rank_t>(omp_get_thread_num());
    if (omp_get_level() <= 1 && omp_get_num_threads() <= threads_) return join_(all_, thread);
    std::string const why = detail::not_a_region_of(static_cast<std::size_t>(threads_), omp_get_level(),
                                                    static_cast<std::size_t>(omp_get_num_threads()));
    if (omp_get_level() <= 1 && thread == 0) detail::refuse(join_(all_, thread)->state(), why);
    throw argument_error(why);
  }

 private:
  void* all_ = nullptr;
  member_guard (*join_)(void*, rank_t) = nullptr;
  int threads_ = 0;
};

/// Folds by the threads of a region. `into` as in detail::fold_part().
class folds {
 public:
  /// The copy for the calling thread: the copy of its number in the region, so that results depend only on the number
  /// of threads and the schedule of the loop. A thread gets a copy of its own instead in nested regions, where numbers
  /// are not unique, and, until the next combination, if the runtime has given its number to another thread than in the
  /// region before.
  static detail::private_copy& copy_here(detail::reducer_core& core) {
    if (omp_get_level() > 1) return detail::copy_of_this_thread(core);
    return detail::copy_claimed(core, static_cast<std::uint32_t>(omp_get_thread_num()));
  }

  static void combine(detail::reducer_core& core, void* const* into, combining how) {
    if (omp_get_level() == 0) return combine_outside(core, into, how);
    if (omp_in_parallel() == 0) return alone(core, into, how);  // the only thread of its region
    int const threads = omp_get_num_threads();
    bool const one = one_suffices(core, threads);
    auto const mine = come(core, threads, one, detail::arriving::waits);
    // An operation may throw while the other threads wait at the barrier.
    std::exception_ptr thrown;
    try {
      fold(core, into, how, threads, one, mine);
    } catch (...) {
      thrown = std::current_exception();
    }
    // OpenMP's own: threads that wait in it execute tasks, which others may need in order to come.
#pragma omp barrier
    if (thrown) std::rethrow_exception(thrown);
    if (one && !mine.last) detail::require_complete(core, mine);  // the last would fetch a line for what it knows
  }

  /// By the threads of all processes.
  static void combine(processes const& all, detail::reducer_core& core, void* const* into, combining how,
                      destination const& to) {
    if (omp_get_level() == 0) return combine_outside(all, core, into, how, to);
    come_together(core);
    combine_here(all, core, into, how, to);
  }
  static void come_together(detail::reducer_core& core) {
    if (omp_in_parallel() == 0) return detail::require_no_arrivals(core);
    come(core, omp_get_num_threads(), false, detail::arriving::waits);
  }

  static void combine(nowait_t, detail::reducer_core& core, void* const* into, combining how) {
    using enum detail::arriving;
    int const threads = omp_get_num_threads();
    bool const one = one_suffices(core, threads);
    auto const mine = come(core, threads, one, !one ? meets : is_first_of_region() ? passes_first : passes);
    fold(core, into, how, threads, one, mine);
  }

 private:
  /// Whether one thread folds everything before a barrier would have ended. Every thread of a region gets the same
  /// answer, whatever copies exist. Where threads share processors, they pass a barrier in turns: with 1,000 to 10,000
  /// elements and 4 threads on 2 cores, a step of a histogram, a force loop or a transpose takes 7 to 28 % less time
  /// (bench/programs).
  static bool one_suffices(detail::reducer_core const& core, int threads) {
    auto const all = static_cast<std::size_t>(threads);
    return detail::worthwhile_parts(core, all) < (detail::share_processors(all) ? 64 : 4);
  }

  /// Whether this thread is the first of its region that comes to its next combination. Nothing but OpenMP's constructs
  /// tells one region from another; this one costs an atomic operation.
  static bool is_first_of_region() {
    bool first = false;
#pragma omp single nowait
    first = true;
    return first;
  }

  /// Waits for all threads of the region, unless one suffices to fold.
  static detail::arrival come(detail::reducer_core& core, int threads, bool one, detail::arriving how) {
    auto const mine = detail::arrive(core, static_cast<std::uint32_t>(threads), how);
    if (one) return mine;
    bool const begins = omp_get_thread_num() == 0;
    if (begins) detail::begin_round(core);
#pragma omp barrier
    detail::require_complete(core, mine);
    if (begins) detail::renew_claims(core);
    return mine;
  }

  /// By all threads, or by the last one that has come.
  static void fold(detail::reducer_core& core, void* const* into, combining how, int threads, bool one,
                   detail::arrival mine) {
    if (!one) return fold_together(core, into, how, static_cast<std::size_t>(threads));
    if (mine.last) fold_alone(core, into, how);
  }
  static void fold_together(detail::reducer_core& core, void* const* into, combining how, std::size_t threads) {
    auto const thread = static_cast<std::size_t>(omp_get_thread_num());
    if (!detail::should_fold_round(core, threads, how)) return detail::fold_part(core, into, thread, threads, how);
    detail::fold_round(core, into, thread, threads, how);
  }
  static void fold_alone(detail::reducer_core& core, void* const* into, combining how) {
    detail::renew_claims(core);
    detail::fold_part(core, into, 0, 1, how);
  }
  static void alone(detail::reducer_core& core, void* const* into, combining how) {
    detail::require_no_arrivals(core);
    fold_alone(core, into, how);
  }

  static void combine_here(processes const& all, detail::reducer_core& core, void* const* into, combining how,
                           destination const& to) {
    member_guard me = all.join();
    detail::combine_over_processes(core, into, me->state(), static_cast<std::uint32_t>(omp_get_thread_num()), how, to);
  }
  static void combine_outside(processes const& all, detail::reducer_core& core, void* const* into, combining how,
                              destination const& to) {
    detail::require_no_arrivals(core);
    detail::renew_claims(core);
    std::exception_ptr thrown;
    std::mutex keeping;
#pragma omp parallel num_threads(all.threads())
    try {
      combine_here(all, core, into, how, to);
    } catch (...) {
      std::lock_guard const lock(keeping);
      thrown = std::current_exception();
    }
    if (thrown) std::rethrow_exception(thrown);
  }

  /// Opens no region if no thread has ever reduced: OpenMP would create threads for the calling thread, and its threads
  /// would spin less from then on.
  static void combine_outside(detail::reducer_core& core, void* const* into, combining how) {
    if (!detail::has_copies(core) || one_suffices(core, omp_get_max_threads())) return alone(core, into, how);
    detail::require_no_arrivals(core);
    detail::renew_claims(core);
    std::exception_ptr thrown;  // no exception may leave the region
    std::mutex keeping;         // of a critical section all copies of coset would have one lock
#pragma omp parallel
    try {
      detail::fold_part(core, into, static_cast<std::size_t>(omp_get_thread_num()),
                        static_cast<std::size_t>(omp_get_num_threads()), how);
    } catch (...) {
      std::lock_guard const lock(keeping);
      thrown = std::current_exception();
    }
    if (thrown) std::rethrow_exception(thrown);
  }
};

}  // namespace region_room

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
/// Over processes, each of which has such a region, its own targets and a reduction of its own:
///
///     auto threads = coset::team::adopt(omp_get_max_threads());
///     coset::mpi::team all(MPI_COMM_WORLD, *threads);
///     coset::omp::reduction sum(all, bins);
///
/// Then combine() is collective over the threads of all processes, which it joins by itself (a thread that has joined leaves
/// first), and to which all pass the same `how` and destination. Every process has in its targets what all threads of
/// all processes have reduced; with combining::add each adds that to what its own targets hold. Regions have as many threads
/// as the process has in the team, which outlives the reduction. `nowait` waits all the same. Bits: the same on every process,
/// and in every run with as many processes and threads, for the same work of each. Cost: `coset why reduction`. Errors
/// are a collective's, on all threads of all processes.
///
/// `reduction sum(coset::omp::in_place, bins)` saves making, folding and clearing one copy, as thread 0 works on the
/// targets themselves. From the first local() of a region until the combination is done, no other thread may read the
/// targets. What thread 0 reduced stays in the targets even if it is not combined, and combining::assign is not
/// possible. A region of one thread has no copy at all.
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
    if (all_) return region_room::folds::combine(all_, copies_.core(), copies_.checked().data(), how, where);
    region_room::folds::combine(copies_.core(), copies_.checked().data(), how);
  }
  /// The same without the barrier at the end, for use just before the end of the region, which is a barrier anyway. All
  /// threads combine several reductions in the same order.
  void combine(nowait_t, combining how = combining::add) {
    if (all_) return combine(how);
    require_no_target_in_use(how == combining::assign);
    region_room::folds::combine(nowait, copies_.core(), copies_.checked().data(), how);
  }
  /// The same over processes in split phase, and the targets are assigned, by threads that have joined the team and remain in it:
  ///
  ///     auto me = all.join(omp_get_thread_num());
  ///     auto later = sum.start_combine(*me);
  ///     …  // the next loop; its local() is another set of copies
  ///     later.wait();
  ///
  /// Collective. Twice the memory for copies, from the first call on; a third set there is not, so who starts again has waited.
  [[nodiscard]] started_combination start_combine(member& me) {
    require_no_target_in_use(true);
    auto const places = copies_.places();
    region_room::folds::come_together(copies_.core());
    started_combination later;
    std::exception_ptr thrown;  // others wait at the barriers
    try {
      auto const own = static_cast<std::uint32_t>(omp_get_thread_num());
      if (others_) detail::require_not_under_way(others_->core(), me.state(), own);
      later = detail::start_combination(copies_.core(), places.data.data(), places.lengths.data(), me.state(), own);
    } catch (...) {
      thrown = std::current_exception();
      std::atomic_ref(has_failed_).store(true, std::memory_order_relaxed);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) exchange_copies();  // when all have begun
#pragma omp barrier
    if (thrown) std::rethrow_exception(thrown);
    if (has_failed_) later.wait();  // throws: who went on would wait for the threads that have thrown
    if (refused_) std::rethrow_exception(refused_);
    return later;
  }
  /// The same into other arrays and values of the same lengths, for this call only; every thread names the same ones.
  template <class... Things>
  void combine_into(Things&&... things) {
    require_no_target_in_use(true);
    auto const others = copies_.checked_others(std::forward<Things>(things)...);
    if (all_) return region_room::folds::combine(all_, copies_.core(), others.data(), combining::add, {});
    region_room::folds::combine(copies_.core(), others.data(), combining::add);
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

/// The same for one large array of which a region touches few elements; see sparse_reducer. local() gives a
/// sparse_array.
///
///     coset::omp::sparse_reduction<double> sum(std::span(grid));  // the type may be left out
template <class T, class Op = plus>
class sparse_reduction {
 public:
  explicit sparse_reduction(std::span<T> array, Op op = {}, sparse_options const& options = {})
      : sparse_reduction(array, op, detail::known_identity<T, Op>(), options) {}
  sparse_reduction(std::span<T> array, Op op, T identity, sparse_options const& options = {})
      : into_(array), copies_(array.size(), std::move(op), identity, options) {}
  /// Over the threads of all processes: only what was touched travels, once to each process.
  template <team_over_processes Team, class... Options>
  explicit sparse_reduction(Team& all, std::span<T> array, Options&&... options)
      : sparse_reduction(array, std::forward<Options>(options)...) {
    all_ = region_room::processes(all);
  }

  /// Cost: some nanoseconds. Call it once per region and thread.
  sparse_array<T, Op> local() {
    if (omp_get_level() > 1) return copies_.local();
    return copies_.claimed(static_cast<std::uint32_t>(omp_get_thread_num()));
  }

  /// As reduction's.
  void combine(combining how = combining::add, destination const& where = {}) {
    if (all_) return region_room::folds::combine(all_, copies_.core(), place().data(), how, where);
    region_room::folds::combine(copies_.core(), place().data(), how);
  }
  void combine(nowait_t, combining how = combining::add) {
    if (all_) return combine(how);
    region_room::folds::combine(nowait, copies_.core(), place().data(), how);
  }
  void reset() noexcept { detail::reset(copies_.core()); }
  std::string describe() const { return copies_.describe(); }

 private:
  std::array<void*, 1> place() const { return {into_.data()}; }

  std::span<T> into_;
  sparse_reducer<T, Op> copies_;
  region_room::processes all_;
};

template <team_over_processes Team, class T>
explicit sparse_reduction(Team&, std::span<T>) -> sparse_reduction<T>;
template <team_over_processes Team, class T>
explicit sparse_reduction(Team&, std::span<T>, plus, sparse_options const&) -> sparse_reduction<T>;
template <team_over_processes Team, class T, class Op>
explicit sparse_reduction(Team&, std::span<T>, Op, sparse_options const& = {}) -> sparse_reduction<T, Op>;

namespace region_room {

/// Adopted teams that no region is using.
class COSET_PER_COPY teams {
 public:
  static std::shared_ptr<team> lend(rank_t ranks) {
    teams& all = instance();
    std::unique_ptr<team> lent;
    {
      std::lock_guard const lock(all.mutex_);
      for (auto& free : all.free_) {
        if (free->size() != ranks) continue;
        lent = std::exchange(free, std::move(all.free_.back()));
        all.free_.pop_back();
        break;
      }
    }
    if (!lent) lent = all.make(ranks);
    return {lent.release(), [](team* back) { instance().take_back(std::unique_ptr<team>(back)); }};
  }

 private:
  static teams& instance() {
    static teams& only = *new teams;  // OpenMP's threads may end after static destructors
    return only;
  }
  std::unique_ptr<team> make(rank_t ranks) {
    auto made = team::adopt(ranks);
    std::lock_guard const lock(mutex_);
    free_.reserve(++made_);
    return made;
  }
  void take_back(std::unique_ptr<team> back) noexcept {
    std::lock_guard const lock(mutex_);
    free_.push_back(std::move(back));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<team>> free_;  ///< with room for all, so that giving one back allocates nothing
  std::size_t made_ = 0;
};

/// The same team for all threads of the region. If it cannot be had all of them throw: no exception may leave a single.
inline std::shared_ptr<team> team_of_region() {
  std::shared_ptr<team> shared;
  std::exception_ptr refused;
#pragma omp single copyprivate(shared, refused)
  try {
    shared = teams::lend(static_cast<rank_t>(omp_get_num_threads()));
  } catch (...) {
    refused = std::current_exception();
  }
  if (refused) std::rethrow_exception(refused);
  return shared;
}

}  // namespace region_room

/// This thread of the region as a rank, for every collective. Declare it as a variable inside the region.
///
///     #pragma omp parallel
///     {
///       coset::omp::member_here me;
///       coset::allreduce(me, array);
///     }
///
/// Collective: every thread of the region makes one and uses it itself; its rank is its thread number. Threads are not
/// pinned.
/// Cost: some µs per region; the first region of a size makes a team, which later regions reuse.
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
