// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "numa/binding.hpp"
#include "runtime/rank_state.hpp"
#include "trace/process.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;
using numa::ticks;
using program::instruction;
using trace::event;
using trace::kind;
using course = recording::course;

course& course_of(rank_state& me, flight const& f) { return me.memory.recorded->courses[f.line.channel]; }

std::uint32_t plan_of(flight const& f) { return static_cast<std::uint32_t>(f.plan->id); }

event event_of(rank_state const& me, flight const& f, kind what, std::uint64_t begin, std::uint64_t end) {
  event e{};
  e.begin = begin;
  e.end = end;
  e.of.tag = f.line.entered ? f.line.tag : 0;
  e.of.number = f.act.number;
  e.of.plan = plan_of(f);
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

void push_wait(rank_state& me, flight const& f, course& c, std::uint64_t since) {
  c.now = ticks();
  event e = event_of(me, f, kind::wait, since, c.now);
  e.peer = me.shared.part.first + c.awaited;
  e.signal = c.signal;
  if (e.signal == trace::has_left) e.step = 0;
  push(me, e);
}

trace::plan_words words_for(flight const& f) {
  std::string schedule = f.plan->words.choice;
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

/// What a fold reads of other ranks' memory and writes there.
void count_moved(rank_state const& me, flight const& f, instruction const& i, event& e) {
  recording const& mine = *me.memory.recorded;
  for (std::uint32_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k) {
    rank_t const other = f.code->operands[k].base[f.line.parity] % me.shared.ranks;
    if (other == me.rank) continue;
    std::uint64_t const bytes = bytes_of(f, i, k);
    e.peer = e.data.moved == 0 || e.peer == me.shared.part.first + other ? me.shared.part.first + other : event::nobody;
    e.data.moved += bytes;
    mine.of_thread->count_moved(mine.levels[other], bytes);
  }
}

}  // namespace

void begin_recording(rank_state& me) {
  if (!trace::is_on()) return;
  bool const is_root = &me.root == &me;
  if (!is_root && me.root.memory.recorded == nullptr) return;  // made before it was wanted
  trace::journal& journal = is_root ? trace::open_journal(me.shared.marks.team, me.rank, me.here.memory_node)
                                    : *me.root.memory.recorded->of_thread;
  if (is_root || (me.shared.is_origin() && me.shared.size() >= journal.of.size.load(std::memory_order_relaxed))) {
    journal.of.number.store(me.number, std::memory_order_relaxed);
    journal.of.size.store(me.shared.size(), std::memory_order_relaxed);
  }
  me.memory.recorded = std::make_unique<recording>(
      recording{&journal, me.shared.marks.team, std::vector(me.shared.ranks, trace::level::unknown_place)});
}

void record_begin(rank_state& me, flight const& f) {
  course& c = course_of(me, f);
  std::uint64_t const operation = std::uint64_t{f.act.number} << 32 | f.act.history;
  c.now = ticks();
  if (c.operation == operation) return;
  if (me.memory.recorded->of_thread->meets(plan_of(f))) trace::describe_plan(plan_of(f), words_for(f));
  c.operation = operation;
  c.begin = c.now;
  c.waits_since = 0;
}

void record_end(rank_state& me, flight const& f) {
  course& c = course_of(me, f);
  event e = event_of(me, f, kind::operation, c.begin, ticks());
  e.data.bytes = f.plan->bytes;
  push(me, e);
  c.operation = 0;
}

void record_fold(rank_state& me, flight const& f, instruction const& i) {
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
  course& c = course_of(me, f);
  std::uint64_t const since = std::exchange(c.waits_since, 0), begin = std::exchange(c.now, ticks());
  kind const what = i.what == program::action::send      ? kind::send
                    : i.what == program::action::receive ? kind::receive
                    : i.what == program::action::offload ? kind::hand_over
                                                         : kind::combine;
  event e = event_of(me, f, what, since != 0 ? since : begin, c.now);
  e.peer = i.peer;
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
  course const& c = course_of(me, f);
  event e = event_of(me, f, kind::post, c.now, c.now);
  e.peer = me.number;
  e.signal = signal;
  push(me, e);
}

void record_awaited(rank_state& me, flight const& f, rank_t other, std::uint32_t signal) {
  course& c = course_of(me, f);
  c.awaited = other;
  c.signal = signal;
}

void record_wait(rank_state& me, flight const& f) {
  course& c = course_of(me, f);
  push_wait(me, f, c, c.now);
}

void record_look_in_vain(rank_state& me, flight const& f) {
  course& c = course_of(me, f);
  if (c.waits_since == 0) c.waits_since = c.now;
}

void record_end_of_looks(rank_state& me, flight const& f) {
  course& c = course_of(me, f);
  if (c.waits_since != 0) push_wait(me, f, c, std::exchange(c.waits_since, 0));
}

}  // namespace coset::runtime
