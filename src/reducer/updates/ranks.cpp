// SPDX-License-Identifier: Apache-2.0
// Loops of updates by the ranks of a team.
#include "coset/updates/ranks.hpp"

#include <cstdint>

#include "base/text/format.hpp"
#include "coset/detail/collective.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/busy_mark.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

/// Told apart from the collectives that it is made of.
constexpr std::uint64_t of_scatter_add = 0x7363617474657261;

}  // namespace

void meet_with_loops(rank_state& me, loop_of_rank const& mine, loop_of_rank* all) {
  if (!me.shared.kind.one_memory())
    refuse(me, "scatter_add: ranks of several processes have no target in common; add in each, then reduce the arrays");
  std::size_t const ranks = me.shared.ranks;
  me.acts.history = runtime::following(me.acts.history, of_scatter_add);
  run(me, {.what = verb::gather, .in = &mine, .out = all, .count = ranks, .reduction = &copy_of<loop_of_rank>()});
  if (me.rank != 0) return;
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    loop_of_rank const& other = all[rank];
    if (other.target != mine.target || other.length != mine.length)
      refuse(me, text::format("scatter_add: the target of rank 0 has {} elements from {}, that of rank {} {} from {}",
                              mine.length, mine.target, rank, other.length, other.target));
    if (other.type == mine.type && other.others != mine.others)
      refuse(me, text::format("scatter_add: of several targets rank 0 and rank {} pass different ones", rank));
    if (other.type != mine.type)
      refuse(me, text::format("scatter_add: rank 0 and rank {} pass keys, values or an operation of different types",
                              rank));
  }
}

void* shared_by_first(rank_state& me, void* made) {
  auto shared = reinterpret_cast<std::uintptr_t>(made);
  run(me,
      {.what = verb::broadcast, .in = &shared, .out = &shared, .count = 1, .reduction = &copy_of<std::uintptr_t>()});
  return reinterpret_cast<void*>(shared);
}

void fail_by_thrown(rank_state& me) { runtime::fail_by_thrown(me, "scatter_add"); }

void borrowing::begin() {
  me_.lines.own.busy.exchange(1, std::memory_order_seq_cst);
  if (!me_.shared.failure.recorded_in_order() && !me_.shared.failed()) [[likely]]
    return;
  end();
  runtime::leave(me_);
}

void borrowing::end() noexcept {
  runtime::tell_release(&me_.lines.own.busy);
  me_.lines.own.busy.store(0, std::memory_order_release);  // partner: quiesce()
}

void borrowing::meet() {
  end();
  run(me_, meeting());
  begin();
}

}  // namespace coset::detail
