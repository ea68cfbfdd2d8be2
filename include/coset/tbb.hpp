// SPDX-License-Identifier: Apache-2.0
// For oneTBB programs: reductions of arrays in tasks. Needs oneTBB; the library itself does not.
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "coset/reducer.hpp"

namespace coset::tbb {

/// A reducer whose copies are folded by tasks of the calling thread's arena: what combinable and
/// enumerable_thread_specific are for single values, for arrays.
///
///     coset::tbb::reducer<double> sum(count);
///     tbb::parallel_for(range, [&](auto const& part) {
///       auto mine = sum.local();
///       for (auto i = part.begin(); i != part.end(); ++i) mine[key[i]] += 1;
///     });
///     sum.combine_into(bins);
///
/// local() belongs to the thread, so take it inside the task and not across a wait for other tasks. No task waits for
/// another. Otherwise as coset::reducer.
template <element T, reduction<T> Op = plus>
class reducer {
 public:
  explicit reducer(std::size_t count,
                   reducer_options const& options = {}) requires has_identity<Op, T> && std::default_initializable<Op>
      : copies_(count, options) {}
  reducer(std::size_t count, Op op, T identity, reducer_options const& options = {})
      : copies_(count, std::move(op), identity, options) {}

  std::size_t size() const noexcept { return copies_.size(); }
  private_array<T> local() { return copies_.local(); }

  /// into[i] = into[i] ∘ all that was reduced into element i; afterwards all copies are empty.
  void combine_into(std::span<T> into) {
    detail::require_length(copies_.core(), into.size());
    fold(into.data());
  }

  /// As coset::reducer's.
  std::span<T const> view() {
    auto const* const total = static_cast<T const*>(detail::total_of(copies_.core()));
    fold(nullptr);
    return {total, size()};
  }

  void reset() noexcept { copies_.reset(); }
  std::string describe() const { return copies_.describe(); }

 private:
  void fold(void* into) {
    detail::reducer_core& core = copies_.core();
    auto const threads = static_cast<std::size_t>(::tbb::this_task_arena::max_concurrency());
    // Waking workers takes longer than some parts.
    std::size_t const parts = std::min(detail::worthwhile_parts(core, threads) / 4, threads);
    if (parts <= 1) return detail::fold_part(core, into, 0, 1);
    // The same slices to the same threads, as far as oneTBB can.
    ::tbb::parallel_for(
        std::size_t{0}, parts, [&](std::size_t part) { detail::fold_part(core, into, part, parts); },
        ::tbb::static_partitioner());
  }

  coset::reducer<T, Op> copies_;
};

}  // namespace coset::tbb
