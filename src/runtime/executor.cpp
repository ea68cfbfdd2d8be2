// SPDX-License-Identifier: Apache-2.0
// A reader of this file cannot tell which algorithm runs.
#include "runtime/executor.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/await.hpp"
#include "runtime/fold.hpp"
#include "runtime/memory/foreign.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "runtime/memory/use_staging.hpp"
#include "runtime/recording.hpp"
#include "runtime/shared_fold.hpp"
#include "runtime/transport/offload.hpp"
#include "runtime/transport/proxy.hpp"

namespace coset::runtime {
namespace {

using detail::bound_plan;
using detail::rank_state;
using program::instruction;
using program::wait;

/// In the loop that records; `blocked`: it was a wait.
template <manner How>
void end_of_wait(rank_state& me, flight const& f, std::atomic<std::uint64_t> const& word, bool blocked) {
  tell_acquire(&word);
  if (blocked) {
    record_wait(me, f);
  } else if (!How.blocks) {
    record_end_of_looks(me, f);
  }
}

template <manner How>
bool await(rank_state& me, flight& f, rank_t other, std::atomic<std::uint64_t> const& word, awaited what) {
  perturb();
  std::uint64_t const seen = word.load(std::memory_order_acquire);  // partner: signal()
  if (what.is_in(seen)) [[likely]] {
    if constexpr (How.records) end_of_wait<How>(me, f, word, false);
    return true;
  }
  if constexpr (How.blocks) {
    await_blocking(me, f, other, word, what);
    if constexpr (How.records) end_of_wait<How>(me, f, word, true);
    return true;
  } else {
    if (what.is_refused_by(seen)) fail_mismatch(me, f, other);
    if constexpr (How.records) record_look_in_vain(me, f);
    look_in_vain(me, f, other, word, what);
    return false;
  }
}

/// A peer's entry.
template <manner How>
[[gnu::always_inline]] inline bool await_entry(rank_state& me, flight& f, rank_t other) {
  if constexpr (How.records) record_awaited(me, f, other, program::entry_signal);
  channel_end& end = me.ends[f.line.channel];
  entry_line const& line = end.lines[other]->entry[f.line.parity];
  if (!await<How>(me, f, other, line.tag, {awaited::kind::entry, f.line.tag})) return false;
  __builtin_prefetch(line.second.data());  // a payload there is on its way while the pointers are looked at
  rank_t const ranks = me.shared.ranks;
  auto* const in = static_cast<std::byte*>(const_cast<void*>(line.in));
  auto* const out = static_cast<std::byte*>(line.out);
  end.bases[program::row_input * ranks + other] = in;
  end.bases[program::row_output * ranks + other] = out;
  // A rank that may have left may have freed its arrays, and this rank's arrays may reuse their memory.
  if (f.code->stays[other] && may_overlap(f, in, out)) [[unlikely]]
    compare_arrays_of(me, f, other, line);
  return true;
}

template <manner How>
bool await(rank_state& me, flight& f, wait const& w) {
  if (w.signal == program::entry_signal) return await_entry<How>(me, f, w.rank);
  if constexpr (How.records) record_awaited(me, f, w.rank, w.signal);
  return await<How>(me, f, w.rank, me.ends[f.line.channel].lines[w.rank]->progress.signalled,
                    {awaited::kind::signal, f.line.base + w.signal});
}

/// Before a parity's lines and staging are written again, the ranks that read them two operations ago must have left
/// that operation. If the operation in between was full, they have; else the readers' entries show that they have: into
/// that one if they told it when done, or into the one in between.
template <manner How>
bool await_reuse(rank_state& me, flight& f, std::uint32_t epoch) {
  channel_end& end = me.ends[f.line.channel];
  if (end.peers_entered || end.readers[epoch & 1] == nullptr) return true;
  users_of_lines const users(end, epoch, *f.layout, me.rank, me.shared.ranks);
  for (; f.wait < users.size(); ++f.wait) {
    program::reader const user = users[f.wait];
    rank_t const q = user.rank;
    if constexpr (How.records) record_awaited(me, f, q, trace::has_left);
    std::uint32_t const entry = entry_after_reading(user, epoch);
    std::atomic<std::uint64_t> const& tag = end.lines[q]->entry[entry & 1].tag;
    if (!await<How>(me, f, q, tag, {awaited::kind::reuse, std::uint64_t{entry} << 32})) return false;
  }
  f.wait = 0;
  return true;
}

/// Where a rank's input is its part of the result: of segments this one's.
void copy_own(flight const& f, rank_t self) {
  detail::extent const part = f.plan->arrays.gives[self];
  std::size_t const each = f.plan->segments.count * f.plan->what.reduction->element_bytes;
  std::size_t const done = f.segment.now * each, bytes = std::min(part.end - part.begin - done, each);
  if (bytes != 0 && f.in != f.out) std::memcpy(f.out + part.begin, f.in + part.begin, bytes);
}

/// The first time: tables of the channel, and scratch for as many operands as a program has.
void make_room(rank_state& me, flight const& f) {
  open_channel(me, f.line.channel);
  me.memory.operands.resize(std::max<std::size_t>(f.plan->candidacy.most_operands, me.memory.operands.size()));
}

/// In split phase nobody could wait for a piece.
bool shares_folds(flight const& f) { return f.plan->segments.shared_piece != 0 && f.line.channel == 0; }

/// Takes the next epoch of the channel.
template <manner How>
bool enter(rank_state& me, flight& f) {
  channel_end& end = me.ends[f.line.channel];
  bound_plan const& plan = *f.plan;
  if (end.lines.empty() || me.memory.operands.size() < plan.candidacy.most_operands) [[unlikely]]
    make_room(me, f);
  f.layout = &plan.segments.layout_of(f.segment.now);
  if (!await_reuse<How>(me, f, end.epoch + 1)) return false;
  std::size_t const staging = f.line.channel == 0 ? plan.candidacy.most_staging : f.layout->staging_bytes;
  if (staging > end.capacity) use_staging(me, f.line.channel, staging);
  std::uint32_t const epoch = ++end.epoch;
  f.line.parity = static_cast<std::uint8_t>(epoch & 1);
  if (f.layout->exchanges) end.exchange(epoch);
  f.line.exchanged = f.layout->exchanges && end.is_exchanged(epoch);
  f.line.tag = std::uint64_t{epoch} << 32 | f.act.history;
  f.line.base = end.base;
  f.at = f.wait = 0;
  f.line.entered = true;
  end.base += plan.code->span;
  end.peers_entered = plan.code->full;
  end.readers[f.line.parity] = &f.code->readers;
  if (plan.arrays.own == detail::own_copy::first) copy_own(f, me.rank);
  if (shares_folds(f)) [[unlikely]]
    shared_fold(end.lines[me.rank]->progress, epoch).offer();
  if (me.shared.kind.has_messages) [[unlikely]] {
    f.line.entered = false;  // what this cannot have is no operation's fault, see leave_by_exception()
    expect_messages(me, f);
    f.line.entered = true;
  }
  end.bases[program::row_input * me.shared.ranks + me.rank] = const_cast<std::byte*>(f.in);
  end.bases[program::row_output * me.shared.ranks + me.rank] = f.out;
  return true;
}

/// A fold that touches peers' caller memory.
void fold_foreign(rank_state& me, flight const& f, instruction const& i, std::size_t count) {
  std::size_t const piece = std::max<std::size_t>(foreign_bytes / f.plan->what.reduction->element_bytes, 1);
  touch_foreign(me, count, piece, [&](std::size_t done, std::size_t now) {
    if (done != 0) step_on(me, f, i, piece);
    fold_arrays(me, f, i, now);
  });
}

[[gnu::always_inline]] inline void fold(rank_state& me, flight const& f, instruction const& i) {
  std::size_t const count = f.layout->boundary[i.block_end] - f.layout->boundary[i.block];
  if (count == 0) return;
  if (i.foreign) {
    shares_folds(f) ? fold_together(me, f, i) : fold_foreign(me, f, i, count);
  } else {
    fold_arrays(me, f, i, count);
  }
}

void signal(rank_state& me, flight const& f, std::uint32_t number) {
  channel_lines& mine = *me.ends[f.line.channel].lines[me.rank];
  if (number != program::entry_signal) return tell_progress(me, mine.progress, f.line.base + number);
  entry_line& entry = mine.entry[f.line.parity];
  if (f.plan->candidacy.tells_times)  // the payload's place is free: nothing of such plans is that short
    std::memcpy(entry.payload.data(), &me.acts.times, sizeof me.acts.times);
  tell_entry(me, entry, f.in, f.out, f.line.tag);
  if (f.plan->arrays.own == detail::own_copy::once_told) copy_own(f, me.rank);
}

/// In the loop that records.
void before_signal(rank_state& me, flight const& f, std::uint32_t number) {
  record_post(me, f, number);
  channel_lines const& mine = *me.ends[f.line.channel].lines[me.rank];
  tell_release(number == program::entry_signal ? &mine.entry[f.line.parity].tag : &mine.progress.signalled);
}

/// What concerns other domains: begun, or looked for. False: not here yet.
bool transfer(rank_state& me, flight const& f, instruction const& i) {
  require_this_process(me.shared, "a collective");  // the operation before may have forked
  switch (i.what) {
    case program::action::send:
      send_message(me, f, i);
      return true;
    case program::action::receive:
      return message_is_here(me, f, i);
    case program::action::offload:
      start_offload(me, f, i);
      return true;
    case program::action::await_offload:
      return finish_offload(me, f, i);
    case program::action::fold:
      break;  // concerns no other domain
  }
  __builtin_unreachable();
}

template <manner How>
bool run_segment(rank_state& me, flight& f) {
  auto const& code = f.code->code;
  for (; f.at < code.size(); ++f.at) {
    instruction const& i = code[f.at];
    // Before waiting: the end of a wait is a mispredicted branch, and nothing after it overlaps. Peers' pointers come
    // with their entries, so those have to wait.
    if (!i.foreign && i.what == program::action::fold) resolve(me, f, i);
    for (; f.wait < i.waits_end; ++f.wait) {
      if (!await<How>(me, f, f.code->waits[f.wait])) return false;
    }
    if (i.foreign) resolve(me, f, i);
    if (i.what != program::action::fold) [[unlikely]] {
      if (!transfer(me, f, i)) {
        if constexpr (How.records) record_look_in_vain(me, f);
        return false;
      }
      if constexpr (How.records) record_transfer(me, f, i);
    } else if (i.destinations != 0) {
      fold(me, f, i);
      if constexpr (How.records) record_fold(me, f, i);
    }
    if (i.signal != 0) {
      if constexpr (How.records) before_signal(me, f, i.signal);
      signal(me, f, i.signal);
    }
  }
  for (; f.wait < f.code->waits.size() + f.code->unmet.size(); ++f.wait) {
    if (!await_entry<How>(me, f, f.code->unmet[f.wait - f.code->waits.size()])) return false;
  }
  return !me.shared.kind.has_messages || all_sent(me, f);
}

}  // namespace

template <manner How>
bool advance_as(rank_state& me, flight& f) {
  if (me.shared.failed()) [[unlikely]] {
    if constexpr (How.records) record_failure(me, f);
    leave(me);
  }
  try {
    if constexpr (How.records) record_begin(me, f);
    for (;;) {
      if (!f.line.entered && !enter<How>(me, f)) return false;
      if (!run_segment<How>(me, f)) return false;
      if (++f.segment.now == f.segment.end) break;
      std::size_t const bytes = f.plan->segments.count * f.plan->what.reduction->element_bytes;
      f.in = moved(f.in, bytes);
      f.out = moved(f.out, bytes);
      f.wait = 0;
      f.line.entered = false;
    }
    if constexpr (How.records) record_end(me, f);
    return true;
  } catch (...) {
    if constexpr (How.records) record_failure(me, f);
    leave_by_exception(me, f);
  }
}

template bool advance_as<manner{true, false}>(rank_state&, flight&);
template bool advance_as<manner{false, false}>(rank_state&, flight&);
template bool advance_as<manner{true, true}>(rank_state&, flight&);
template bool advance_as<manner{false, true}>(rank_state&, flight&);

}  // namespace coset::runtime
