// SPDX-License-Identifier: Apache-2.0
#include "runtime/await.hpp"

#include "numa/binding.hpp"
#include "runtime/failure/long_waits.hpp"
#include "runtime/transport/proxy.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;

/// Looks in vain between two questions whether the awaited rank will ever come, and whether all wait for one another.
constexpr std::uint32_t looks_per_question = 64, looks_per_nonblocking_question = 16, looks_per_standstill = 1024;
/// A rank that yields instead of spinning goes to sleep no sooner than one that spins.
constexpr std::uint32_t yields_instead_of_spins = 5;

/// One look, which may show a disagreement.
bool is_there(rank_state& me, flight const& f, rank_t other, std::uint64_t seen, awaited what) {
  if (what.is_refused_by(seen)) fail_mismatch(me, f, other);
  return what.is_in(seen);
}

/// Whether the awaited rank has left, or has done something else. What it signalled before is visible then: look again.
void ask_for(rank_state& me, flight const& f, rank_t other, std::atomic<std::uint64_t> const& word, awaited what) {
  bool const elsewhere = has_gone_elsewhere(me.shared.arena.own(other), f.act.number, f.act.history);
  // Partner: the release store when a rank leaves. What it signalled is read by another look.
  bool const left = me.shared.left(other).load(std::memory_order_acquire) == me.shared.round();
  if ((!elsewhere && !left) || is_there(me, f, other, word.load(std::memory_order_relaxed), what)) return;
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

}  // namespace

void await_blocking(rank_state& me, flight const f, rank_t other, std::atomic<std::uint64_t> const& word,
                    awaited what) {
  auto const ready = [&](std::uint64_t seen) { return is_there(me, f, other, seen, what); };
  patience p = me.shared.patience;
  for (std::uint32_t looks = 0; looks < p.bare_looks; ++looks) {
    if (ready(word.load(std::memory_order_acquire))) return note_moving(me.root);
  }
  bool long_wait = false;
  wait_until(word, what.part(), me.shared.arena.attention(other).sleepers, p, ready, [&](std::uint32_t looks) {
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
      ask_for(me, f, other, word, what);
    }
    if (slow || looks % looks_per_standstill == looks_per_standstill - 1) note_waiting(me, f);
  });
  if (long_wait) me.lines.told.waits_on.store(0, std::memory_order_relaxed);
  note_moving(me.root);
}

void look_in_vain(rank_state& me, flight& f, rank_t other, std::atomic<std::uint64_t> const& word, awaited what) {
  if (me.shared.failed() || !me.shared.is_of_this_process()) leave(me);
  if (++f.looks.all % looks_per_nonblocking_question == 0) ask_for(me, f, other, word, what);
}

void compare_arrays_of(rank_state& me, flight const f, rank_t other, entry_line const& line) {
  if (!me.shared.in_one_process(me.rank, other)) return;
  compare_arrays(me, f, other, static_cast<std::byte const*>(line.in), static_cast<std::byte const*>(line.out));
}

void leave_by_exception(rank_state& me, flight const f) {
  try {
    throw;
  } catch (mpi::error const& thrown) {
    tell_of_no_wait(me.root);
    me.shared.fail(cause::messages, thrown.what());
    me.shared.quiesce(me);
    throw;
  } catch (std::bad_alloc const&) {
    // Nothing but the caller's operation allocates in a fold.
    bool const by_operation =
        f.line.entered && f.at < f.code->code.size() && f.code->code[f.at].what == program::action::fold;
    if (!by_operation) fail_for_memory(me, f.plan->what.what, f.plan->bytes);
    me.root.requests.operation_threw = true;
    fail_by_operation(me);
  } catch (...) {
    fail_by_operation(me);
  }
}

}  // namespace coset::runtime
