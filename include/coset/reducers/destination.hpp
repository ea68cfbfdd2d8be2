// SPDX-License-Identifier: Apache-2.0
// Which processes get what a reducer of a team over processes has combined.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include "coset/detail/visibility.h"
#include "coset/error.hpp"

namespace coset::inline COSET_ABI {

/// The same on every rank. In a team of one process, which has the result in any case, it makes no difference. Processes are
/// numbered in the order of their ranks, see mpi::team::process_number().
///
///     sum.combine(coset::combining::assign, coset::destination::one_process(0));
class destination {
 public:
  enum class kind : std::uint8_t { every_process, one_process, parts };

  destination() = default;  ///< every process has all of it, as after an allreduce
  /// This process has it, as after a reduce. Targets of the others stay as they are.
  static destination one_process(rank_t number) noexcept { return {kind::one_process, number, {}}; }
  /// Each process has its own part, as after a reduce_scatter: so many elements of the array as `counts` says for each process,
  /// which add up to its length. What a target has besides stays as it is. For reducers of one array; `counts` stays until the
  /// call returns.
  static destination parts(std::span<std::size_t const> counts) noexcept { return {kind::parts, 0, counts}; }

  kind what() const noexcept { return what_; }
  rank_t process() const noexcept { return process_; }
  std::span<std::size_t const> counts() const noexcept { return counts_; }

 private:
  destination(kind what, rank_t process, std::span<std::size_t const> counts)
      : what_(what), process_(process), counts_(counts) {}

  kind what_ = kind::every_process;
  rank_t process_ = 0;
  std::span<std::size_t const> counts_;
};

}  // namespace coset
