// SPDX-License-Identifier: Apache-2.0
// The one loop that runs every program. Inline what every call passes through.
#pragma once

#include <utility>

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Prepares an operation on a channel; nothing is sent or waited for yet. `in` and `out` are the caller's.
inline void prepare(flight& f, detail::rank_state const& me, std::uint32_t channel, detail::bound_plan const& plan,
                    void const* in, void* out, void const* operation) {
  f.plan = &plan;
  f.code = &plan.code->of[me.rank];
  f.operation = operation;
  f.in = moved(static_cast<std::byte const*>(in), 0 - plan.arrays.gives[me.rank].begin);
  f.out = moved(static_cast<std::byte*>(out), 0 - plan.arrays.gets[me.rank].begin);
  f.segment = {0, plan.segments.number};
  f.line.channel = channel;
  f.line.entered = f.line.started = false;
  f.line.by = me.acts.by;
  f.at = f.wait = 0;
  f.looks.all = f.looks.stuck = 0;
}

/// Makes it this rank's next operation, on its channel, and tells the others: they see what it is, whatever they wait
/// for. Once, before advance().
inline void announce(detail::rank_state& me, detail::bound_plan const& plan, std::uint32_t channel,
                     planning::asked_by by, bool started) {
  std::uint32_t const number = ++me.acts.number;
  std::uint32_t const history = me.acts.history = following(me.acts.history, plan.hash, channel);
  std::uint64_t const said = plan.id << 3 | std::uint64_t(by) << 1 | (started ? 1 : 0);
  if (std::exchange(me.acts.described[number % described_operations], said) != said)
    plan.describe(me.lines.told.doing[number % described_operations], started, by);
  // Partner: has_gone_elsewhere().
  me.lines.told.begun[number % told_operations].store(std::uint64_t{number} << 32 | history, std::memory_order_release);
}

inline void announce(detail::rank_state& me, flight& f) {
  announce(me, *f.plan, f.line.channel, f.line.by, f.line.started);
  f.act = {me.acts.number, me.acts.history};
}

/// How the loop goes: whether it blocks where it waits, and whether it tells a trace or a sanitizer what it does.
struct manner {
  bool blocks, records;
};

template <manner How>
bool advance_as(detail::rank_state&, flight&);

extern template bool advance_as<manner{true, false}>(detail::rank_state&, flight&);
extern template bool advance_as<manner{false, false}>(detail::rank_state&, flight&);
extern template bool advance_as<manner{true, true}>(detail::rank_state&, flight&);
extern template bool advance_as<manner{false, true}>(detail::rank_state&, flight&);

/// Goes on as far as peers allow. Blocking: returns true when all is done. Otherwise: false at the first wait that is not
/// over yet; the next call goes on there. Throws what the team failed with, after peers have let go of this rank's memory.
template <bool Blocking>
bool advance(detail::rank_state& me, flight& f) {
  return me.memory.watched ? advance_as<manner{Blocking, true}>(me, f) : advance_as<manner{Blocking, false}>(me, f);
}

}  // namespace coset::runtime
