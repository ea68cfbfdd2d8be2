// SPDX-License-Identifier: Apache-2.0
// The threads of a region as ranks. Part of coset/omp.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <omp.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "coset/detail/visibility.h"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI::omp {
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
