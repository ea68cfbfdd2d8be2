// SPDX-License-Identifier: Apache-2.0
#include "runtime/shared_fold.hpp"

#include <algorithm>

#include "runtime/fold.hpp"
#include "runtime/memory/foreign.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;
using program::instruction;

/// One rank's.
struct part_to_fold {
  flight const& f;  ///< as the part's owner has it, with the arrays that this rank has been told of
  instruction const& what;

  std::size_t piece() const { return f.plan->segments.shared_piece; }
  std::size_t count() const { return f.layout->boundary[what.block_end] - f.layout->boundary[what.block]; }
  std::uint32_t pieces() const { return static_cast<std::uint32_t>((count() + piece() - 1) / piece()); }

  void fold(rank_state& me, std::uint32_t number) const {
    std::size_t const begin = number * piece(), now = std::min(piece(), count() - begin);
    touch_foreign(me, now, now, [&](std::size_t, std::size_t) {
      resolve(me, f, what);
      step_on(me, f, what, begin);
      fold_arrays(me, f, what, now);
    });
  }
};

shared_fold fold_of(rank_state const& me, flight const& f, rank_t of) {
  return {me.ends[f.line.channel].lines[of]->progress, epoch_of(f.line.tag)};
}

void help(rank_state& me, flight const& f, rank_t other) {
  flight as_other = f;
  as_other.code = &f.plan->code->of[other];
  part_to_fold const theirs{as_other, program::only_fold(*as_other.code)};
  shared_fold shared = fold_of(me, f, other);
  // The last one its owner is about to begin, and would have done before it came back from here.
  while (auto const number = shared.take(theirs.pieces() - 1)) {
    theirs.fold(me, *number);
    shared.give_back();
  }
}

}  // namespace

void fold_together(rank_state& me, flight const& f, instruction const& i) {
  part_to_fold const mine{f, i};
  shared_fold own = fold_of(me, f, me.rank);
  std::uint64_t given = mine.pieces();
  for (; auto const number = own.take(mine.pieces()); --given) mine.fold(me, *number);
  rank_t const ranks = me.shared.ranks;
  for (rank_t k = 1; k < ranks; ++k) help(me, f, (me.rank + k) % ranks);
  patience waiting = me.shared.patience;
  waiting.sleeps = false;  // for a piece of each helper at most
  auto& word = me.ends[f.line.channel].lines[me.rank]->progress.helped;
  wait_until(
      word, half::low, me.shared.arena.attention(me.rank).sleepers, waiting,
      [&](std::uint64_t) { return own.has_all_back(given); },
      [&](std::uint32_t) {
        if (me.shared.failed() || !me.shared.is_of_this_process()) leave(me);
      });
}

}  // namespace coset::runtime
