// SPDX-License-Identifier: Apache-2.0
// A reader of this file cannot tell which algorithm runs.
#include "runtime/executor.hpp"

#include <algorithm>
#include <cstring>

#include "numa/binding.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/failure/long_waits.hpp"
#include "runtime/memory/busy_mark.hpp"
#include "runtime/memory/perturb.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "runtime/recording.hpp"
#include "runtime/transport/offload.hpp"
#include "runtime/transport/proxy.hpp"
#include "runtime/use_staging.hpp"

namespace coset::runtime {
namespace {

using detail::bound_plan;
using detail::rank_state;
using program::instruction;
using program::wait;

/// Long enough that marking busy costs nothing, short enough that an abort is not kept waiting.
constexpr std::size_t foreign_bytes = 256 * 1024;
/// Looks in vain between two questions whether the awaited rank will ever come, and whether all wait for one another.
constexpr std::uint32_t looks_per_question = 64, looks_per_nonblocking_question = 16, looks_per_standstill = 1024;
/// A rank that yields instead of spinning goes to sleep no sooner than one that spins.
constexpr std::uint32_t yields_instead_of_spins = 5;

bool before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }
std::uint32_t epoch_of(std::uint64_t tag) { return static_cast<std::uint32_t>(tag >> 32); }

/// Whether the awaited rank has left, or has done something else. What it signalled before is visible then: look again.
template <class Ready>
void ask_for(rank_state& me, flight const& f, rank_t other, std::atomic<std::uint64_t> const& word, Ready ready) {
  bool const elsewhere = has_gone_elsewhere(me.shared.arena.own(other), f.act.number, f.act.history);
  // Partner: the release store when a rank leaves. What it signalled is read by another look.
  bool const left = me.shared.left(other).load(std::memory_order_acquire) == me.shared.round();
  if ((!elsewhere && !left) || ready(word.load(std::memory_order_relaxed))) return;
  elsewhere ? fail_mismatch(me, f, other) : fail_left(me, f, other);
}

/// Whether the awaited rank is itself in a long wait on the processor that this one is on. Then it runs when this one
/// yields, not before. Tells the others where this one waits.
bool shares_processor(rank_state const& me, rank_t other) {
  auto const here = numa::processor_of_this_thread();
  if (!here) return false;
  me.lines.told.waits_on.store(*here + 1, std::memory_order_relaxed);
  return me.shared.arena.own(other).waits_on.load(std::memory_order_relaxed) == *here + 1;
}

/// A function of its own, so that a wait that succeeds at once saves no registers for it.
template <class Ready>
[[gnu::noinline]] void await_blocking(rank_state& me, flight const& f, rank_t other,
                                      std::atomic<std::uint64_t> const& word, half which, Ready ready) {
  patience p = me.shared.patience;
  for (std::uint32_t looks = 0; looks < p.bare_looks; ++looks) {
    if (ready(word.load(std::memory_order_acquire))) return note_moving(me.root);
  }
  bool long_wait = false;
  wait_until(word, which, me.shared.arena.attention(other).sleepers, p, ready, [&](std::uint32_t looks) {
    if (me.shared.failed() || !me.shared.is_of_this_process()) leave(me);
    if (did_something_meanwhile()) p.sleeps = false;
    if (looks == p.few_spins && looks < p.spins) {
      long_wait = true;
      if (shares_processor(me, other)) {
        p.spins = looks;
        p.yields *= yields_instead_of_spins;
      }
    }
    bool const slow = p.sleeps && looks >= p.spins + p.yields;
    if (slow || looks % looks_per_question == looks_per_question - 1) {
      listen_for_others(me);
      ask_for(me, f, other, word, ready);
    }
    if (slow || looks % looks_per_standstill == looks_per_standstill - 1) note_waiting(me, f);
  });
  if (long_wait) me.lines.told.waits_on.store(0, std::memory_order_relaxed);
  note_moving(me.root);
}

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

template <manner How, class Ready>
bool await(rank_state& me, flight& f, rank_t other, std::atomic<std::uint64_t> const& word, half which, Ready ready) {
  perturb();
  if (ready(word.load(std::memory_order_acquire))) [[likely]] {  // partner: signal()
    if constexpr (How.records) end_of_wait<How>(me, f, word, false);
    return true;
  }
  if constexpr (How.blocks) {
    await_blocking(me, f, other, word, which, ready);
    if constexpr (How.records) end_of_wait<How>(me, f, word, true);
    return true;
  } else {
    if constexpr (How.records) record_look_in_vain(me, f);
    if (me.shared.failed() || !me.shared.is_of_this_process()) leave(me);
    if (++f.looks.all % looks_per_nonblocking_question == 0) ask_for(me, f, other, word, ready);
    return false;
  }
}

/// Whether b begins less than `bytes` before or behind a. One comparison: this is asked three times of every peer.
bool meet(std::byte const* a, std::byte const* b, std::size_t bytes) {
  auto const x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x - y + (bytes - 1) < 2 * bytes - (bytes == 0 ? 0 : 1);
}

/// A peer's entry. The same epoch with another history is a disagreement, seen before any data are read. So is a later
/// epoch: a rank that has done what this one does writes no new entry before this one has seen the old.
template <manner How>
[[gnu::always_inline]] inline bool await_entry(rank_state& me, flight& f, rank_t other) {
  if constexpr (How.records) record_awaited(me, f, other, program::entry_signal);
  channel_end& end = me.ends[f.line.channel];
  entry_line const& line = end.lines[other]->entry[f.line.parity];
  auto const ready = [&](std::uint64_t tag) {
    if (tag == f.line.tag) return true;
    if (!before(epoch_of(tag), epoch_of(f.line.tag))) fail_mismatch(me, f, other);
    return false;
  };
  if (!await<How>(me, f, other, line.tag, half::high, ready)) return false;
  __builtin_prefetch(line.second.data());  // a payload there is on its way while the pointers are looked at
  rank_t const ranks = me.shared.ranks;
  auto* const in = static_cast<std::byte*>(const_cast<void*>(line.in));
  auto* const out = static_cast<std::byte*>(line.out);
  end.bases[program::row_input * ranks + other] = in;
  end.bases[program::row_output * ranks + other] = out;
  // A rank that may have left may have freed its arrays, and this rank's arrays may reuse their memory.
  if (!f.code->stays[other]) return true;
  // Quick, and nearly always enough: whole vectors that do not meet.
  std::size_t const bytes = f.plan->bytes;
  if (f.plan->arrays.shares_outputs || meet(f.out, out, bytes) || meet(f.out, in, bytes) || meet(f.in, out, bytes))
      [[unlikely]] {
    if (me.shared.in_one_process(me.rank, other)) compare_arrays(me, f, other, in, out);
  }
  return true;
}

template <manner How>
bool await(rank_state& me, flight& f, wait const& w) {
  if (w.signal == program::entry_signal) return await_entry<How>(me, f, w.rank);
  if constexpr (How.records) record_awaited(me, f, w.rank, w.signal);
  std::uint64_t const wanted = f.line.base + w.signal;
  return await<How>(me, f, w.rank, me.ends[f.line.channel].lines[w.rank]->progress.signalled, half::low,
                    [wanted](std::uint64_t signalled) { return signalled >= wanted; });
}

/// Before a parity's lines and staging are written again, the ranks that read them two operations ago must have left
/// that operation. If the operation in between was full, they have; else the readers' entries into it show that they
/// have.
template <manner How>
bool await_reuse(rank_state& me, flight& f, std::uint32_t epoch) {
  channel_end& end = me.ends[f.line.channel];
  if (end.peers_entered || end.readers[epoch & 1] == nullptr) return true;
  auto const& readers = *end.readers[epoch & 1];
  for (; f.wait < readers.size(); ++f.wait) {
    rank_t const q = readers[f.wait];
    if constexpr (How.records) record_awaited(me, f, q, trace::has_left);
    std::atomic<std::uint64_t> const& tag = end.lines[q]->entry[(epoch - 1) & 1].tag;
    auto const entered = [epoch](std::uint64_t seen) { return !before(epoch_of(seen), epoch - 1); };
    if (!await<How>(me, f, q, tag, half::high, entered)) return false;
  }
  f.wait = 0;
  return true;
}

/// Where a rank's input is its part of the result, it is put there before anybody can be told: of segments this one's.
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

/// Takes the next epoch of the channel.
template <manner How>
bool enter(rank_state& me, flight& f) {
  channel_end& end = me.ends[f.line.channel];
  bound_plan const& plan = *f.plan;
  if (end.lines.empty() || me.memory.operands.size() < plan.candidacy.most_operands) [[unlikely]]
    make_room(me, f);
  if (!await_reuse<How>(me, f, end.epoch + 1)) return false;
  f.layout = &plan.segments.layout_of(f.segment.now);
  std::size_t const staging = f.line.channel == 0 ? plan.candidacy.most_staging : f.layout->staging_bytes;
  if (staging > end.capacity) use_staging(me, f.line.channel, staging);
  std::uint32_t const epoch = ++end.epoch;
  f.line.parity = static_cast<std::uint8_t>(epoch & 1);
  f.line.tag = std::uint64_t{epoch} << 32 | f.act.history;
  f.line.base = end.base;
  f.at = f.wait = 0;
  f.line.entered = true;
  end.base += plan.code->span;
  end.peers_entered = plan.code->full;
  end.readers[f.line.parity] = &f.code->readers;
  if (plan.arrays.own_copied_first) copy_own(f, me.rank);
  if (me.shared.kind.has_messages) [[unlikely]] {
    f.line.entered = false;  // what this cannot have is no operation's fault, see leave_by_exception()
    expect_messages(me, f);
    f.line.entered = true;
  }
  end.bases[program::row_input * me.shared.ranks + me.rank] = const_cast<std::byte*>(f.in);
  end.bases[program::row_output * me.shared.ranks + me.rank] = f.out;
  return true;
}

/// Sources, then destinations.
[[gnu::always_inline]] inline void resolve(rank_state& me, flight const& f, instruction const& i) {
  std::byte* const* const bases = me.ends[f.line.channel].bases.data();
  std::size_t const* const offsets = f.layout->offset.data();
  program::operand const* const operands = f.code->operands.data() + i.operands;
  void** const resolved = me.memory.operands.data();
  for (std::uint32_t k = 0, all = i.sources + i.destinations; k < all; ++k)
    resolved[k] = moved(bases[operands[k].base[f.line.parity]], offsets[operands[k].piece]);
}

/// Operations may throw.
class folding_mark {
 public:
  explicit folding_mark(rank_state& root) : root_(root) { root_.requests.process = 0; }
  ~folding_mark() { root_.requests.process = root_.shared.process(); }
  folding_mark(folding_mark const&) = delete;
  folding_mark& operator=(folding_mark const&) = delete;

 private:
  rank_state& root_;
};

[[gnu::always_inline]] inline void fold_now(rank_state& me, flight const& f, instruction const& i, std::size_t count) {
  void* const* const from = me.memory.operands.data();
  void* const* const to = from + i.sources;
  if (i.mixed) [[unlikely]] {
    detail::form const* const forms = f.code->forms.data() + i.operands;
    f.plan->what.reduction->mixed(to, i.destinations, from, i.sources, forms, count);
  } else {
    f.plan->folds->for_sources(i.sources)(f.operation, to, i.destinations, from, i.sources, count);
  }
}

/// By a rank whose thread has another floating-point mode than the team. Apart, as it has something to give back.
[[gnu::noinline]] void fold_in_mode_of_team(rank_state& me, flight const& f, instruction const& i, std::size_t count) {
  computing_in const mode(me.shared.mode(), f.plan->what.reduction->code.computes);
  fold_now(me, f, i, count);
}

/// The same bits on every rank, whatever modes their threads have; copies have none.
void fold_arrays(rank_state& me, flight const& f, instruction const& i, std::size_t count) {
  folding_mark const here(me.root);
  bool const computes = i.sources != 1 || i.mixed;
  if (computes && me.shared.mode().differs_here(f.plan->what.reduction->code.computes)) [[unlikely]]
    return fold_in_mode_of_team(me, f, i, count);
  fold_now(me, f, i, count);
}

/// All arrays of an instruction `count` items on.
void step_on(rank_state& me, flight const& f, instruction const& i, std::size_t count) {
  detail::reduction_table const& reduction = *f.plan->what.reduction;
  detail::form const* form = f.code->forms.data() + i.operands;
  auto const bytes = [&] {
    return count * (*form++ == detail::form::partial ? reduction.partial_bytes : reduction.element_bytes);
  };
  for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k)
    me.memory.operands[k] = static_cast<std::byte*>(me.memory.operands[k]) + bytes();
}

/// A fold that touches peers' caller memory: only while the team has not failed, and in pieces, so that a rank which
/// leaves by an exception need not wait long.
void fold_foreign(rank_state& me, flight const& f, instruction const& i, std::size_t count) {
  std::size_t const piece = std::max<std::size_t>(foreign_bytes / f.plan->what.reduction->element_bytes, 1);
  for (std::size_t done = 0; done < count;) {
    std::size_t const now = std::min(piece, count - done);
    {
      busy_mark const busy(me.lines.own);
      if (!me.shared.failure.recorded_in_order()) [[likely]] {
        fold_arrays(me, f, i, now);
        done += now;
      }
    }
    if (me.shared.failure.recorded()) [[unlikely]]
      leave(me);
    if (done == count) return;
    step_on(me, f, i, now);
  }
}

[[gnu::always_inline]] inline void fold(rank_state& me, flight const& f, instruction const& i) {
  std::size_t const count = f.layout->boundary[i.block_end] - f.layout->boundary[i.block];
  if (count == 0) return;
  if (i.foreign) {
    fold_foreign(me, f, i, count);
  } else {
    fold_arrays(me, f, i, count);
  }
}

void signal(rank_state& me, flight const& f, std::uint32_t number) {
  perturb();
  channel_lines& mine = *me.ends[f.line.channel].lines[me.rank];
  if (number == program::entry_signal) {
    // Not before a payload in the second line: as long as that is on its way here, a peer would take the first one back.
    entry_line& entry = mine.entry[f.line.parity];
    entry.in = f.in;
    entry.out = f.out;
    if (f.plan->candidacy.tells_times)  // the payload's place is free: nothing of such plans is that short
      std::memcpy(entry.payload.data(), &me.acts.times, sizeof me.acts.times);
    signal(entry.tag, f.line.tag, me.lines.sleepers, half::high, me.shared.kind.plain_signals);
  } else {
    signal(mine.progress.signalled, f.line.base + number, me.lines.sleepers, half::low, me.shared.kind.plain_signals);
  }
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

/// What leaves an operation ends it on all ranks. To be called while it is handled.
[[noreturn, gnu::noinline]] void leave_by_exception(rank_state& me, flight const& f) {
  try {
    throw;
  } catch (mpi::error const& thrown) {
    tell_of_no_wait(me.root);
    me.shared.fail(cause::messages, thrown.what());
    me.shared.quiesce(me);
    throw;
  } catch (std::bad_alloc const& thrown) {
    // Nothing but the caller's operation allocates in a fold.
    bool const by_operation =
        f.line.entered && f.at < f.code->code.size() && f.code->code[f.at].what == program::action::fold;
    if (!by_operation) fail_for_memory(me, f.plan->what.what, f.plan->bytes);
    me.root.requests.operation_threw = true;
    fail_by_exception(me, thrown.what());
    throw;
  } catch (std::exception const& thrown) {
    fail_by_exception(me, thrown.what());
    throw;
  }
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
  } catch (std::exception const&) {
    if constexpr (How.records) record_failure(me, f);
    leave_by_exception(me, f);
  } catch (...) {
    if constexpr (How.records) record_failure(me, f);
    fail_by_exception(me, "");
    throw;
  }
}

template bool advance_as<manner{true, false}>(rank_state&, flight&);
template bool advance_as<manner{false, false}>(rank_state&, flight&);
template bool advance_as<manner{true, true}>(rank_state&, flight&);
template bool advance_as<manner{false, true}>(rank_state&, flight&);

}  // namespace coset::runtime
