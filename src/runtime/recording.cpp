// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "numa/binding.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "runtime/rank_state.hpp"
#include "runtime/trace/process.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;
using numa::ticks;
using program::instruction;
using trace::event;
using trace::kind;
using course = recording::course;

std::uint64_t operation_of(flight const& f) { return std::uint64_t{f.act.number} << 32 | f.act.history; }

course& course_of(rank_state& me, flight const& f) { return me.memory.recorded->courses[f.line.channel]; }

std::uint32_t plan_of(flight const& f) { return static_cast<std::uint32_t>(f.plan->id); }

event event_of(rank_state const& me, flight const& f, kind what, std::uint64_t begin, std::uint64_t end) {
  event e{};
  e.begin = begin;
  e.end = end;
  e.of.tag = f.line.entered ? f.line.tag : 0;
  e.of.number = f.act.number;
  e.of.plan = plan_of(f) & 0x7fffffff;
  e.peer = event::nobody;
  std::uint32_t const step = f.at < f.code->steps.size() ? f.code->steps[f.at] : 0;
  e.step = static_cast<std::uint16_t>(std::min<std::uint32_t>(step, UINT16_MAX));
  e.team = me.memory.recorded->team & 0x7fff;
  e.joint = me.shared.kind.one_memory() ? 0 : 1;
  e.channel = static_cast<std::uint8_t>(f.line.channel);
  e.what = what;
  return e;
}

void push(rank_state const& me, event const& e) { me.memory.recorded->of_thread->push(e); }

/// A rank of the team, as its number is in the team that this one was split from.
rank_t known_as(rank_state const& me, rank_t number) {
  auto const in_origin = me.memory.recorded->in_origin;
  return in_origin.empty() ? number : in_origin[number];
}

void push_wait(rank_state& me, flight const& f, course& c, std::uint64_t since, bool failed = false) {
  c.now = ticks();
  event e = event_of(me, f, kind::wait, since, c.now);
  e.peer = known_as(me, me.shared.part.first + c.awaited);
  e.signal = c.signal;
  e.of.failed = failed ? 1 : 0;
  if (e.signal == trace::has_left) e.step = 0;
  push(me, e);
}

trace::plan_words words_for(flight const& f) {
  std::string schedule = f.plan->words->choice;
  if (auto const others = schedule.find(" (or "); others != schedule.npos) schedule.resize(others);
  planning::signature call = f.plan->what;
  call.plan = 0;  // its number says nothing to people
  return {call.text(), std::move(schedule)};
}

/// Bytes of one array of the instruction.
std::uint64_t bytes_of(flight const& f, instruction const& i, std::uint32_t operand) {
  detail::reduction_table const& reduction = *f.plan->what.reduction;
  bool const partial = f.code->forms[operand] == detail::form::partial;
  return (f.layout->boundary[i.block_end] - f.layout->boundary[i.block]) *
         (partial ? reduction.partial_bytes : reduction.element_bytes);
}

/// What a fold reads of other ranks' memory and writes there. Where pairs exchange staging as much crosses, as if it lay as usual.
void count_moved(rank_state const& me, flight const& f, instruction const& i, event& e) {
  recording const& mine = *me.memory.recorded;
  for (std::uint32_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k) {
    rank_t const other = f.code->operands[k].base[f.line.parity] % me.shared.ranks;
    if (other == me.rank) continue;
    std::uint64_t const bytes = bytes_of(f, i, k);
    rank_t const peer = known_as(me, me.shared.part.first + other);
    e.peer = e.data.moved == 0 || e.peer == peer ? peer : event::nobody;
    e.data.moved += bytes;
    mine.of_thread->count_moved(mine.levels[other], bytes);
  }
}

kind kind_of(instruction const& i) {
  switch (i.what) {
    case program::action::send:
      return kind::send;
    case program::action::receive:
      return kind::receive;
    case program::action::offload:
      return kind::hand_over;
    case program::action::await_offload:
      return kind::combine;
    case program::action::fold:
      return kind::fold;
  }
  __builtin_unreachable();
}

/// Whether the operation has come to a wait for a signal, and not beyond.
bool is_before_wait(flight const& f) {
  if (!f.line.entered) return true;
  std::size_t const end =
      f.at < f.code->code.size() ? f.code->code[f.at].waits_end : f.code->waits.size() + f.code->unmet.size();
  return f.wait < end;
}

void push_operation(rank_state& me, flight const& f, bool failed) {
  course& c = course_of(me, f);
  event e = event_of(me, f, kind::operation, c.begin, ticks());
  e.data.bytes = f.plan->bytes;
  e.of.failed = failed ? 1 : 0;
  push(me, e);
  c.operation = 0;
}

}  // namespace

void begin_recording(rank_state& me) {
  me.memory.watched = sanitizer_is_told();
  if (!trace::is_on()) return;
  bool const is_root = &me.root == &me;
  if (!is_root && me.root.memory.recorded == nullptr) return;  // made before it was wanted
  std::optional<unsigned> const node =
      me.here.memory_node != anywhere ? std::optional(me.here.memory_node) : std::nullopt;
  trace::journal& journal =
      is_root ? trace::open_journal(me.shared.marks.team, me.rank, node) : *me.root.memory.recorded->of_thread;
  if (is_root || (me.shared.is_origin() && me.shared.size() >= journal.of.size.load(std::memory_order_relaxed))) {
    journal.of.number.store(me.number, std::memory_order_relaxed);
    journal.of.size.store(me.shared.size(), std::memory_order_relaxed);
  }
  me.memory.watched = true;
  me.memory.recorded = std::make_unique<recording>(
      recording{&journal, me.shared.marks.team, std::vector(me.shared.ranks, trace::level::unknown_place), {}});
  if (me.shared.kind.one_memory()) me.memory.recorded->in_origin = me.shared.root_ranks;
}

void close_recording(rank_state& me) noexcept {
  if (me.memory.recorded != nullptr && &me.root == &me) trace::close_journal(*me.memory.recorded->of_thread);
}

void record_begin(rank_state& me, flight const& f) {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  c.now = ticks();
  if (c.operation == operation_of(f)) return;
  if (me.memory.recorded->of_thread->meets(plan_of(f))) trace::describe_plan(plan_of(f), words_for(f));
  c.operation = operation_of(f);
  c.begin = c.now;
  c.waits_since = 0;
  c.waits = false;
}

void record_end(rank_state& me, flight const& f) {
  if (me.memory.recorded != nullptr) push_operation(me, f, false);
}

void record_failure(rank_state& me, flight const& f) noexcept {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  if (c.operation != operation_of(f)) return;  // it has not begun
  std::uint64_t const since = c.waits_since != 0 ? c.waits_since : c.now;
  if (c.waits && is_before_wait(f)) {
    push_wait(me, f, c, since, true);
  } else if (c.waits_since != 0 && f.at < f.code->code.size()) {
    instruction const& i = f.code->code[f.at];
    event e = event_of(me, f, kind_of(i), since, ticks());
    if (e.what == kind::send || e.what == kind::receive) e.peer = known_as(me, i.peer);
    e.of.failed = 1;
    push(me, e);
  }
  c.waits_since = 0;
  push_operation(me, f, true);
}

void record_fold(rank_state& me, flight const& f, instruction const& i) {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  std::uint64_t const begin = std::exchange(c.now, ticks());
  event e = event_of(me, f, i.sources > 1 ? kind::fold : kind::copy, begin, c.now);
  e.data.bytes = bytes_of(f, i, i.operands);
  if (e.data.bytes == 0) return;
  e.sources = static_cast<std::uint16_t>(std::min<std::uint32_t>(i.sources, UINT16_MAX));
  count_moved(me, f, i, e);
  push(me, e);
}

void record_transfer(rank_state& me, flight const& f, instruction const& i) {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  std::uint64_t const since = std::exchange(c.waits_since, 0), begin = std::exchange(c.now, ticks());
  kind const what = kind_of(i);
  event e = event_of(me, f, what, since != 0 ? since : begin, c.now);
  if (what == kind::send || what == kind::receive) e.peer = known_as(me, i.peer);
  detail::reduction_table const& reduction = *f.plan->what.reduction;
  std::size_t const blocks = f.plan->code->blocks.size();
  for (std::uint32_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k) {
    std::size_t const block = f.code->operands[k].piece % blocks;
    bool const partial = f.code->forms[k] == detail::form::partial;
    e.data.bytes += (f.layout->boundary[block + 1] - f.layout->boundary[block]) *
                    (partial ? reduction.partial_bytes : reduction.element_bytes);
  }
  if (what == kind::send || what == kind::receive) {
    e.data.moved = e.data.bytes;
    me.memory.recorded->of_thread->count_moved(trace::level::messages, e.data.bytes);
  }
  push(me, e);
}

void record_post(rank_state& me, flight const& f, std::uint32_t signal) {
  if (me.memory.recorded == nullptr) return;
  course const& c = course_of(me, f);
  event e = event_of(me, f, kind::post, c.now, c.now);
  e.peer = known_as(me, me.number);
  e.signal = signal;
  push(me, e);
}

void record_awaited(rank_state& me, flight const& f, rank_t other, std::uint32_t signal) {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  c.waits = true;
  c.awaited = other;
  c.signal = signal;
}

void record_wait(rank_state& me, flight const& f) {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  push_wait(me, f, c, c.now);
}

void record_look_in_vain(rank_state& me, flight const& f) {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  if (c.waits_since == 0) c.waits_since = c.now;
}

void record_end_of_looks(rank_state& me, flight const& f) {
  if (me.memory.recorded == nullptr) return;
  course& c = course_of(me, f);
  if (c.waits_since != 0) push_wait(me, f, c, std::exchange(c.waits_since, 0));
}

}  // namespace coset::runtime
