// SPDX-License-Identifier: Apache-2.0
#include "runtime/repeated/resolved.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/await.hpp"
#include "runtime/executor.hpp"
#include "runtime/rank_state.hpp"

namespace coset::runtime {
namespace {

using detail::bound_plan;
using detail::extent;
using detail::rank_state;
using program::instruction;
using program::operand;
using array = resolved_program::array;
using step = resolved_program::step;

/// Some 60 B each, per plan and rank: of many ranks the parts themselves take the time.
constexpr std::size_t most_parts = 64;

bool can_be_resolved(rank_state const& me, bound_plan const& plan) {
  capabilities const& kind = me.shared.kind;
  if (kind.has_messages || me.shared.origin.kind.has_messages || !kind.ranks_may_wait || me.memory.watched)
    return false;
  bool const learns = plan.candidacy.lessons != nullptr || plan.candidacy.tells_times;
  if (plan.segments.number != 1 || learns) return false;
  program::program const& own = plan.code->of[me.rank];
  if (own.operands.size() + own.waits.size() + own.unmet.size() > most_parts) return false;
  return std::ranges::none_of(
      own.code, [](instruction const& i) { return i.foreign || i.mixed || i.what != program::action::fold; });
}

/// An array of the caller's, as a call has it: a rank's piece may be all that there is.
array of_caller(array::base from, extent const& own, std::size_t offset) {
  return {from, {offset - own.begin, offset - own.begin}};
}

array resolved(rank_state const& me, bound_plan const& plan, operand const& o) {
  std::size_t const offset = plan.segments.last_layout.offset[o.piece];
  rank_t const ranks = me.shared.ranks;
  if (o.base[0] == program::row_input * ranks + me.rank)
    return of_caller(array::input, plan.arrays.gives[me.rank], offset);
  if (o.base[0] == program::row_output * ranks + me.rank)
    return of_caller(array::output, plan.arrays.gets[me.rank], offset);
  auto const& bases = me.ends[0].bases;
  auto const at = [&](std::uint32_t base) { return reinterpret_cast<std::uintptr_t>(bases[base]) + offset; };
  return {array::nowhere, {at(o.base[0]), at(o.base[1])}};
}

void add_wait(resolved_program& to, rank_state const& me, program::program const& code, program::wait const& w) {
  bool const compares = w.signal == program::entry_signal && code.stays[w.rank] != 0;
  to.waits.push_back({me.ends[0].lines[w.rank], w.rank, w.signal, compares, {}});
}

void add_fold(resolved_program& to, step& made, rank_state const& me, bound_plan const& plan, instruction const& i) {
  program::layout const& layout = plan.segments.last_layout;
  made.count = layout.boundary[i.block_end] - layout.boundary[i.block];
  if (i.destinations == 0 || made.count == 0) return;
  made.sources = i.sources;
  made.destinations = i.destinations;
  made.fold = plan.folds->for_sources(i.sources);
  if (i.sources != 1) made.computes = plan.what.reduction->code.computes;
  made.first_array = to.arrays.size();
  for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k)
    to.arrays.push_back(resolved(me, plan, plan.code->of[me.rank].operands[i.operands + k]));
}

/// The caller's arrays are others than in its latest call of this parity.
[[gnu::noinline]] void take_addresses(resolved_program& program, std::size_t parity, void const* in, void* out) {
  resolved_program::addresses& now = program.latest[parity];
  std::array<std::uintptr_t, 3> const from{reinterpret_cast<std::uintptr_t>(in), reinterpret_cast<std::uintptr_t>(out),
                                           0};
  now.in = in;
  now.out = out;
  for (std::size_t k = 0; k < program.arrays.size(); ++k)
    now.arrays[k] = reinterpret_cast<void*>(from[program.arrays[k].from] + program.arrays[k].at[parity]);
  for (resolved_program::wait& w : program.waits) w.compared[parity] = {w.lines, nullptr};
}

void resolve(resolved_program& to, rank_state const& me, bound_plan const& plan) {
  program::program const& code = plan.code->of[me.rank];
  to.steps.clear();
  to.waits.clear();
  to.arrays.clear();
  to.is_alone = me.shared.size() == 1;
  extent const gives = plan.arrays.gives[me.rank];
  bool const has_own = gives.begin != gives.end;  // or its array may be null
  to.own = {has_own ? plan.arrays.own : detail::own_copy::none, gives.begin - plan.arrays.gets[me.rank].begin,
            gives.end - gives.begin};
  for (instruction const& i : code.code) {
    while (to.waits.size() < i.waits_end) add_wait(to, me, code, code.waits[to.waits.size()]);
    step made{.instruction = static_cast<std::uint32_t>(&i - code.code.data()), .waits_end = i.waits_end};
    add_fold(to, made, me, plan, i);
    if (!to.is_alone) made.signal = i.signal;
    if (!to.is_alone || made.fold != nullptr) to.steps.push_back(made);
  }
  for (rank_t const other : code.unmet) add_wait(to, me, code, {other, program::entry_signal});
  if (!code.unmet.empty())
    to.steps.push_back({.instruction = static_cast<std::uint32_t>(code.code.size()),
                        .waits_end = static_cast<std::uint32_t>(to.waits.size())});
  for (std::size_t const parity : {0u, 1u}) {
    to.latest[parity].arrays.resize(to.arrays.size());
    take_addresses(to, parity, nullptr, nullptr);
  }
  to.readers = &code.readers;
  to.to_whole_in = 0 - plan.arrays.gives[me.rank].begin;
  to.to_whole_out = 0 - plan.arrays.gets[me.rank].begin;
  to.capacity = me.ends[0].capacity;
}

/// One call. Passed in registers: nothing of it is written down but where it waits for long or fails.
struct repeated_call {
  bound_plan const& plan;
  resolved_program& program;
  void const* in;
  void* out;
  void const* operation;
};

/// The call as others of this room know operations, once it has entered. All else follows from where the rank is.
[[gnu::cold]] flight flight_of(rank_state const& me, repeated_call const c, std::uint32_t at, std::uint32_t wait) {
  flight f;
  prepare(f, me, 0, c.plan, c.in, c.out, c.operation);
  channel_end const& end = me.ends[0];
  f.act = {me.acts.number, me.acts.history};
  f.layout = &c.plan.segments.last_layout;
  f.line.parity = static_cast<std::uint8_t>(end.epoch & 1);
  f.line.tag = std::uint64_t{end.epoch} << 32 | me.acts.history;
  f.line.base = end.base - c.plan.code->span;
  f.line.entered = true;
  f.at = at;
  f.wait = wait;
  return f;
}

/// The same where it waits.
[[gnu::cold]] flight flight_at(rank_state const& me, repeated_call const c, resolved_program::wait const& w) {
  auto const wait = static_cast<std::uint32_t>(&w - c.program.waits.data());
  auto const at = std::ranges::find_if(c.program.steps, [wait](step const& s) { return s.waits_end > wait; });
  return flight_of(me, c, at->instruction, wait);
}

[[gnu::noinline]] void await_signal_blocking(rank_state& me, repeated_call const c, resolved_program::wait const& w) {
  flight const f = flight_at(me, c, w);
  await_blocking(me, f, w.rank, w.lines->progress.signalled, {awaited::kind::signal, f.line.base + w.signal});
}

[[gnu::noinline]] void await_entry_blocking(rank_state& me, repeated_call const c, resolved_program::wait const& w) {
  flight const f = flight_at(me, c, w);
  await_blocking(me, f, w.rank, w.lines->entry[f.line.parity].tag, {awaited::kind::entry, f.line.tag});
}

/// A comparison holds as long as both ranks' arrays stay where they are.
[[gnu::noinline]] void compare_arrays_at(rank_state& me, repeated_call const c, resolved_program::wait& w) {
  flight const f = flight_at(me, c, w);
  entry_line const& line = w.lines->entry[f.line.parity];
  if (may_overlap(f, static_cast<std::byte const*>(line.in), static_cast<std::byte const*>(line.out)))
    compare_arrays_of(me, f, w.rank, line);
  w.compared[f.line.parity] = {line.in, line.out};
}

/// Ranks that read this one's lines two operations ago have left that one. Before the next epoch is taken.
[[gnu::noinline]] void await_readers(rank_state& me, repeated_call const c) {
  channel_end& end = me.ends[0];
  awaited const what{awaited::kind::reuse, std::uint64_t{end.epoch} << 32};
  for (rank_t const q : *end.readers[(end.epoch + 1) & 1]) {
    perturb();
    std::atomic<std::uint64_t> const& tag = end.lines[q]->entry[end.epoch & 1].tag;
    if (!what.is_in(tag.load(std::memory_order_acquire))) await_blocking(me, flight_of(me, c, 0, 0), q, tag, what);
  }
}

/// Takes the next epoch of the channel.
[[gnu::always_inline]] inline void enter(rank_state& me, repeated_call const& c) {
  channel_end& end = me.ends[0];
  if (!end.peers_entered && end.readers[(end.epoch + 1) & 1] != nullptr) await_readers(me, c);
  std::uint32_t const epoch = ++end.epoch;
  end.base += c.plan.code->span;
  end.peers_entered = c.plan.code->full;
  end.readers[epoch & 1] = c.program.readers;
}

void fold_now(repeated_call const& c, step const& s, void* const* from) {
  s.fold(c.operation, from + s.sources, s.destinations, from, s.sources, s.count);
}

/// By the caller's operation, which may throw and call collectives, or by a rank whose thread has another floating-point mode
/// than the team.
[[gnu::noinline]] void fold_with_care(rank_state& me, repeated_call const c, step const& s, void* const* from) {
  folding_mark const here(me.root);
  computing_in const mode(me.shared.mode(), s.computes);
  fold_now(c, s, from);
}

[[gnu::always_inline]] inline void fold(rank_state& me, repeated_call const& c, step const& s, void* const* from) {
  bool const with_care = s.computes != detail::arithmetic::integer &&
                         (s.computes == detail::arithmetic::any || me.shared.mode().differs_here(s.computes));
  with_care ? fold_with_care(me, c, s, from) : fold_now(c, s, from);
}

[[gnu::always_inline]] inline void await_entry(rank_state& me, repeated_call const& c, resolved_program::wait& w,
                                               std::size_t parity, std::uint64_t tag) {
  entry_line const& line = w.lines->entry[parity];
  if (line.tag.load(std::memory_order_acquire) != tag) await_entry_blocking(me, c, w);  // partner: tell_entry()
  __builtin_prefetch(line.second.data());  // a payload there is on its way while the pointers are looked at
  if (w.compares && w.compared[parity] != std::pair<void const*, void const*>(line.in, line.out)) [[unlikely]]
    compare_arrays_at(me, c, w);
}

inline void copy_own(repeated_call const& c) {
  auto const* const from = static_cast<std::byte const*>(c.in);
  std::byte* const to = moved(static_cast<std::byte*>(c.out), c.program.own.to);
  if (from != to) std::memcpy(to, from, c.program.own.bytes);
}

[[gnu::always_inline]] inline void tell(rank_state const& me, repeated_call const& c, std::uint32_t signal,
                                        std::size_t parity, std::uint64_t tag) {
  channel_lines& mine = *me.ends[0].lines[me.rank];
  if (signal == program::entry_signal) {
    tell_entry(me, mine.entry[parity], moved(static_cast<std::byte const*>(c.in), c.program.to_whole_in),
               moved(static_cast<std::byte*>(c.out), c.program.to_whole_out), tag);
    if (c.program.own.when == detail::own_copy::once_told) copy_own(c);
  } else {
    tell_progress(me, mine.progress, me.ends[0].base - c.plan.code->span + signal);
  }
}

[[gnu::always_inline]] inline void run_steps(rank_state& me, repeated_call const& c) {
  channel_end const& end = me.ends[0];
  std::size_t const parity = end.epoch & 1;
  std::uint64_t const tag = std::uint64_t{end.epoch} << 32 | me.acts.history;
  resolved_program::addresses const& at = c.program.latest[parity];
  if (at.in != c.in || at.out != c.out) [[unlikely]]
    take_addresses(c.program, parity, c.in, c.out);
  if (c.program.own.when == detail::own_copy::first) copy_own(c);
  void* const* const arrays = at.arrays.data();
  resolved_program::wait* w = c.program.waits.data();
  resolved_program::wait* const first = w;
  for (step const& s : c.program.steps) {
    for (auto* const waits_end = first + s.waits_end; w != waits_end; ++w) {
      perturb();
      if (w->signal == program::entry_signal) {
        await_entry(me, c, *w, parity, tag);
      } else {
        std::uint64_t const wanted = end.base - c.plan.code->span + w->signal;
        if (w->lines->progress.signalled.load(std::memory_order_acquire) < wanted)  // partner: tell_progress()
          await_signal_blocking(me, c, *w);
      }
    }
    if (s.fold != nullptr) fold(me, c, s, arrays + s.first_array);
    if (s.signal != 0) tell(me, c, s.signal, parity, tag);
  }
}

}  // namespace

void resolved_programs::called(rank_state const& me, bound_plan const& plan) noexcept try {
  auto& [id, known] = front_[plan.id % front_.size()];
  if (id == plan.id && known == nullptr) return;
  id = plan.id;
  known = nullptr;
  if (!can_be_resolved(me, plan)) return;
  if (all_.size() >= most && !all_.contains(plan.id)) {
    front_ = {};
    all_.clear();
  }
  std::unique_ptr<resolved_program>& mine = all_[plan.id];
  if (mine == nullptr) mine = std::make_unique<resolved_program>();
  if (mine->capacity != me.ends[0].capacity || mine->readers == nullptr) resolve(*mine, me, plan);
  front_[plan.id % front_.size()] = {plan.id, mine.get()};
} catch (std::bad_alloc const&) {
  // The call is complete; the next goes as this one did.
}

void run_resolved(rank_state& me, bound_plan const& plan, resolved_program& program, void const* in, void* out,
                  void const* operation) {
  repeated_call const c{plan, program, in, out, operation};
  if (!program.is_alone) [[likely]]
    announce(me, plan, 0, me.acts.by, false);
  if (me.shared.failed()) [[unlikely]]
    leave(me);
  try {
    if (!program.is_alone) [[likely]]
      enter(me, c);
    run_steps(me, c);
  } catch (...) {
    leave_by_exception(me, flight_of(me, c, 0, 0));
  }
}

}  // namespace coset::runtime
