// SPDX-License-Identifier: Apache-2.0
// The one loop that runs every program. Inline what every call passes through.
#pragma once

#include <utility>

#include "team/rank_state.hpp"

namespace coset::team_room {

/// Prepares an operation on a channel; nothing is sent or waited for yet. `in` and `out` are the caller's.
inline flight prepare(detail::rank_state& me, std::uint32_t channel, detail::bound_plan const& plan, void const* in,
                      void* out, void const* operation) {
  flight f;
  f.plan = &plan;
  f.code = &plan.code->of[me.number];
  f.operation = operation;
  f.in = static_cast<std::byte const*>(in) - plan.gives[me.number].begin;
  f.out = static_cast<std::byte*>(out) - plan.gets[me.number].begin;
  f.channel = channel;
  f.segment_end = plan.segments;
  return f;
}

/// Makes it this rank's next operation, on its channel, and tells the others: they see what it is, whatever they wait
/// for. Once, before advance().
inline void announce(detail::rank_state& me, flight& f) {
  f.number = ++me.operations;
  f.history = me.history = following(me.history, f.plan->hash, f.channel);
  std::uint64_t const said = f.plan->id << 1 | (f.started ? 1 : 0);
  if (std::exchange(me.described[f.number % described_operations], said) != said)
    f.plan->describe(me.told.doing[f.number % described_operations], f.started);
  // Partner: has_gone_elsewhere().
  me.told.begun[f.number % told_operations].store(std::uint64_t{f.number} << 32 | f.history, std::memory_order_release);
}

/// Goes on as far as peers allow. Blocking: returns true when all is done. Otherwise: false at the first wait that is not
/// over yet; the next call goes on there. Throws what the team failed with, after peers have let go of this rank's memory.
template <bool Blocking>
bool advance(detail::rank_state&, flight&);

extern template bool advance<true>(detail::rank_state&, flight&);
extern template bool advance<false>(detail::rank_state&, flight&);

}  // namespace coset::team_room
