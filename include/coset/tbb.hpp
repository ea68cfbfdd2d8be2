// SPDX-License-Identifier: Apache-2.0
// For oneTBB programs: reductions of arrays in tasks, collectives of tasks, NUMA nodes. Needs oneTBB; the library
// itself does not.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "coset/reducer.hpp"
#include "coset/tbb_arenas.hpp"
#include "coset/tbb_team.hpp"

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
  /// The same by the threads of all nodes, each node's a stretch of the array.
  void combine_into(std::span<T> into, arenas& nodes) {
    detail::require_length(copies_.core(), into.size());
    fold(into.data(), nodes);
  }

  /// As coset::reducer's.
  std::span<T const> view() {
    auto const* const total = static_cast<T const*>(detail::total_of(copies_.core()));
    fold(nullptr);
    return {total, size()};
  }
  std::span<T const> view(arenas& nodes) {
    auto const* const total = static_cast<T const*>(detail::total_of(copies_.core()));
    fold(nullptr, nodes);
    return {total, size()};
  }

  void reset() noexcept { copies_.reset(); }
  std::string describe() const { return copies_.describe(); }

 private:
  void fold(void* into) {
    std::size_t const parts = parts_for(static_cast<std::size_t>(::tbb::this_task_arena::max_concurrency()));
    if (parts <= 1) return detail::fold_part(copies_.core(), into, 0, 1);
    fold_parts(into, 0, parts, parts);
  }
  void fold(void* into, arenas& nodes) {
    std::size_t const parts = parts_for(nodes.concurrency());
    if (parts <= 1) return detail::fold_part(copies_.core(), into, 0, 1);
    nodes.run([&](std::size_t k) {
      auto const [begin, end] = nodes.share(k, parts);
      fold_parts(into, begin, end, parts);
    });
  }

  std::size_t parts_for(std::size_t threads) const {
    // Waking workers takes longer than some parts.
    return std::min(detail::worthwhile_parts(copies_.core(), threads) / 4, threads);
  }
  void fold_parts(void* into, std::size_t begin, std::size_t end, std::size_t parts) {
    task_room::for_each_whatever_happens(
        begin, end, [&](std::size_t part) { detail::fold_part(copies_.core(), into, part, parts); });
  }

  coset::reducer<T, Op> copies_;
};

}  // namespace coset::tbb
