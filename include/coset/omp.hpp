// SPDX-License-Identifier: Apache-2.0
// For OpenMP programs: reductions of arrays, and the threads of a region as ranks. Needs the compiler's OpenMP; the
// library itself does not. Tested with the runtimes of GNU (libgomp) and LLVM (libomp).
#pragma once

#ifndef _OPENMP
#error "coset/omp.hpp is for translation units that are compiled with OpenMP (-fopenmp)"
#endif

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "coset/reducer.hpp"
#include "coset/team.hpp"

namespace coset::omp {

/// As OpenMP's nowait: what was combined is there after the next barrier, the end of the region say. Until then no thread
/// reduces or combines again.
struct nowait_t {};
inline constexpr nowait_t nowait;

/// `reduction(+ : array[:count])` with private copies that are nobody's stack, and that all threads fold together.
///
///     coset::omp::reduction sum(bins, count);  // outside; may serve any number of regions
///     #pragma omp parallel
///     {
///       auto mine = sum.local();
///     #pragma omp for nowait
///       for (int i = 0; i < n; ++i) mine[key[i]] += 1;
///       sum.combine();
///     }
///
/// Each region numbers its threads, so results depend on the number of threads and the schedule of the loop alone. One
/// region uses it at a time; in nested ones threads have copies for themselves, in the order in which they come.
/// Threads run where OMP_PLACES and OMP_PROC_BIND have them. Cost and errors as those of reducer; exceptions may not
/// leave a region.
template <element T, reduction<T> Op = plus>
class reduction {
 public:
  reduction(T* array, std::size_t count,
            reducer_options const& options = {}) requires has_identity<Op, T> && std::default_initializable<Op>
      : into_(array, count), copies_(count, options) {}
  explicit reduction(std::span<T> array,
                     reducer_options const& options = {}) requires has_identity<Op, T> && std::default_initializable<Op>
      : reduction(array.data(), array.size(), options) {}
  /// For other operations; the identity may be left out where coset knows it.
  reduction(T* array, std::size_t count, Op,
            reducer_options const& options = {}) requires has_identity<Op, T> && std::default_initializable<Op>
      : reduction(array, count, options) {}
  reduction(T* array, std::size_t count, Op op, T identity, reducer_options const& options = {})
      : into_(array, count), copies_(count, std::move(op), identity, options) {}

  /// Outside of regions: combines what is left.
  ~reduction() { combine(); }
  reduction(reduction const&) = delete;
  reduction& operator=(reduction const&) = delete;

  /// The calling thread's array.
  private_array<T> local() {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
    return omp_get_level() > 1 ? copies_.local() : copies_.local(static_cast<std::uint32_t>(omp_get_thread_num()));
  }

  /// Collective, like a barrier: every thread of the region calls it after its updates. On return the array has
  /// everything. Outside of regions: by whoever calls, with a region of its own where that pays.
  void combine() {
    if (omp_get_level() == 0) return combine_outside();
    if (omp_in_parallel() == 0) return fold(0, 1);  // the only thread of its region
    combine(nowait);
#pragma omp barrier
  }
  /// The same without the barrier at the end: where the end of the region is one anyway.
  void combine(nowait_t) {
    int const threads = omp_get_num_threads(), self = omp_get_thread_num();
    if (one_suffices(threads)) {
      // Nobody waits: who comes last folds it all. Acquires what the others released by the same operation.
      if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 != threads) return;
      arrived_.store(0, std::memory_order_relaxed);
      return fold(0, 1);
    }
    if (self == 0) detail::begin_round(copies_.core());
#pragma omp barrier
    if (!detail::can_fold_round(copies_.core(), static_cast<std::size_t>(threads))) return fold(self, threads);
    detail::fold_round(copies_.core(), into_.data(), static_cast<std::size_t>(self), static_cast<std::size_t>(threads));
  }

  /// Outside of regions: forgets what was not combined, as after an operation that threw.
  void reset() noexcept {
    arrived_ = 0;
    copies_.reset();
  }

  std::string describe() const { return copies_.describe(); }

 private:
  /// Whether one thread folds it all before a barrier would have ended: the same answer on every thread of a region,
  /// whatever copies there are.
  bool one_suffices(int threads) const {
    return detail::worthwhile_parts(copies_.core(), static_cast<std::size_t>(threads)) < 4;
  }

  void fold(int part, int parts) {
    detail::fold_part(copies_.core(), into_.data(), static_cast<std::size_t>(part), static_cast<std::size_t>(parts));
  }

  /// No region where nobody ever reduced: OpenMP would make threads for the one that asks, and have fewer to spin with
  /// from then on.
  void combine_outside() {
    if (!used_.load(std::memory_order_relaxed)) return;
    if (one_suffices(omp_get_max_threads())) return fold(0, 1);
#pragma omp parallel
    fold(omp_get_thread_num(), omp_get_num_threads());
  }

  std::span<T> into_;
  reducer<T, Op> copies_;
  alignas(64) std::atomic<int> arrived_ = 0;
  std::atomic<bool> used_ = false;  ///< there are copies
};

template <class T>
reduction(T*, std::size_t) -> reduction<T, plus>;
template <class T>
reduction(T*, std::size_t, reducer_options) -> reduction<T, plus>;
template <class T, class Op>
requires coset::reduction<Op, T> reduction(T*, std::size_t, Op)
->reduction<T, Op>;

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
