// SPDX-License-Identifier: Apache-2.0
// Long folds of callers' arrays go piece by piece to whoever is free.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/memory/lines.hpp"
#include "runtime/memory/perturb.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// The pieces of one rank's fold in one operation. A rank that has done its own takes pieces of ranks that are slower, or that the
/// system has taken their processors from. Pieces begin where they always do, and each is folded as its owner would: so bits are the
/// same whoever folds which.
class shared_fold {
 public:
  /// Of the rank with this line, in the operation of this epoch.
  shared_fold(progress_line& of, std::uint32_t epoch) : of_(of), opened_(std::uint64_t{epoch} << 32) {}

  /// By its owner, before it tells its entry: whoever has seen that sees this.
  void offer() {
    of_.helped.store(0, std::memory_order_relaxed);
    of_.taken.store(opened_, std::memory_order_relaxed);
  }

  /// The number of a piece that is the caller's now, out of the first `pieces`. A helper that comes late finds all taken, or another
  /// epoch: the owner begins none while pieces are out, so what a helper has taken is of the operation that it is in.
  std::optional<std::uint32_t> take(std::uint32_t pieces) {
    perturb();
    std::uint64_t seen = of_.taken.load(std::memory_order_relaxed);
    while ((seen & ~std::uint64_t{UINT32_MAX}) == opened_ && static_cast<std::uint32_t>(seen) < pieces)
      if (of_.taken.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed))
        return static_cast<std::uint32_t>(seen);
    return std::nullopt;
  }

  /// By a helper. Partner: the owner's acquire in has_all_back(), before it tells that its part is done.
  void give_back() {
    perturb();
    tell_release(&of_.helped);
    of_.helped.fetch_add(1, std::memory_order_release);
  }

  /// Asked by the owner, which has folded all but so many itself.
  bool has_all_back(std::uint64_t given) const {
    if (of_.helped.load(std::memory_order_acquire) != given) return false;
    tell_acquire(&of_.helped);
    return true;
  }

 private:
  progress_line& of_;
  std::uint64_t const opened_;
};

/// This rank's instruction, which it has offered: pieces that nobody has taken yet, then pieces of other ranks' that they have not
/// come to. Waits for those that others are still at. Throws as folds do, and what the team failed with.
void fold_together(detail::rank_state&, flight const&, program::instruction const&);

}  // namespace coset::runtime
