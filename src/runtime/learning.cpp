// SPDX-License-Identifier: Apache-2.0
#include "runtime/learning.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "numa/binding.hpp"
#include "runtime/executor.hpp"
#include "runtime/requests.hpp"

namespace coset::runtime {
namespace {

using choice::call_times;
using detail::bound_plan;
using detail::rank_lesson;
using detail::rank_state;
using numa::ticks;

constexpr std::uint32_t longest = std::numeric_limits<std::uint32_t>::max();

/// At least 1: 0 is what is not known.
std::uint32_t as_told(std::uint64_t ticks) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ticks, 1, longest));
}

/// Where a run has failed, some ranks may have learned from a call that others have not completed: all begin anew.
rank_lesson& lesson_of(rank_state const& me, bound_plan const& plan) {
  rank_lesson& mine = plan.candidacy.lessons->of->of_rank[me.rank];
  if (mine.failures != me.shared.marks.failures) {
    mine.learner.forget();
    mine.failures = me.shared.marks.failures;
    mine.began = mine.took = 0;
    mine.calls = mine.next = 0;
  }
  return mine;
}

bound_plan const& candidate(bound_plan const& plan, unsigned number) {
  return number == 0 ? plan : *plan.candidacy.lessons->others[number - 1];
}

/// Of all ranks, as their entries tell: of calls the least, as who came last has waited for nobody, of cycles the mean, as in turns
/// one rank is early and another late. Peers have written these before their tags, which this rank has met in this call; they
/// write no others there before this rank's next call.
call_times told_by_all(rank_state const& me, flight const& f) {
  std::uint32_t call = longest;
  std::uint64_t cycles = 0;
  bool are_known = true;
  auto const& lines = me.ends[f.line.channel].lines;
  for (rank_t q = 0; q < me.shared.ranks; ++q) {
    call_times times;
    std::memcpy(&times, lines[q]->entry[f.line.parity].payload.data(), sizeof times);
    call = std::min(call, times.call);
    cycles += times.cycle;
    are_known = are_known && times.cycle != 0;
  }
  return {call, are_known ? static_cast<std::uint32_t>(cycles / me.shared.ranks) : 0};
}

void tell_change(bound_plan const& plan, unsigned best) {
  text::complain(text::format("{}: {} from now on, as calls show", plan.what.text(),
                              program::policy_name(candidate(plan, best).code->storage)));
}

/// As complete(), timed: what the call took, and the caller before it.
call_times complete_timed(rank_state& me, flight& f, rank_lesson& mine, bound_plan const& plan, void const* in,
                          void* out, void const* operation) {
  std::uint64_t const begin = ticks();
  bool const follows = mine.began != 0 && mine.generation == me.shared.marks.generation;
  call_times const before{mine.took, follows ? as_told(begin - mine.began) : 0};
  me.acts.times = before;
  bool const alone = me.root.requests.live == 0;
  prepare(f, me, 0, plan, in, out, operation);
  complete(me, f);
  mine.took = alone ? as_told(ticks() - begin) : 0;
  mine.began = begin;
  mine.generation = me.shared.marks.generation;
  return before;
}

/// In a plan's first call, so that none allocates that comes later.
void resolve_candidates(rank_state& me, rank_lesson& mine, bound_plan const& plan) {
  if (std::exchange(mine.resolved, true)) return;
  for (unsigned k = 0; k <= plan.candidacy.lessons->others.size(); ++k)
    me.memory.resolved.called_untimed(me, candidate(plan, k));
}

/// A call from which nobody learns, as short as one of a plan without lessons.
void complete_untimed(rank_state& me, rank_lesson& mine, bound_plan const& plan, void const* in, void* out,
                      void const* operation) {
  mine.began = 0;
  mine.took = 0;
  resolved_program* const known = me.memory.resolved.find_untimed(plan, me.ends[0].capacity);
  if (known != nullptr && me.root.requests.live == 0) return run_resolved(me, plan, *known, in, out, operation);
  flight f;
  prepare(f, me, 0, plan, in, out, operation);
  complete(me, f);
  me.memory.resolved.called_untimed(me, plan);
}

void learn(rank_lesson& mine, call_times const& before, bound_plan const& plan, bool says_so) {
  unsigned const best = mine.learner.best();
  mine.learner.called(before);
  if (mine.learner.best() != best && says_so && text::plans_are_logged()) [[unlikely]]
    tell_change(plan, mine.learner.best());
}

/// One rank decides at the end of a call for the fourth one after it. Another rank takes over at the end of a call what holds for the
/// next one. By then the leader has begun the call before the last one, since this rank has waited in this call either for
/// the leader's entry into it, or for the leader to be done with its lines of two operations before: so the decision, made at
/// the end of the call before that, is there. And it still is: the leader replaces it five calls later, in which it waits for this rank's entry,
/// or until this rank is done with its lines. tests/memory explores it (*led …*), and fails if decisions are made for a call sooner.
void follow(rank_lesson& mine, detail::decisions& decided, bool is_leader) {
  auto const place_of = [](std::uint32_t call) { return call % detail::decisions::kept; };
  if (is_leader) {
    std::uint32_t const call = mine.calls + 1 + detail::decisions::ahead;
    decided.candidate_of[place_of(call)].store(static_cast<std::uint8_t>(mine.learner.next()),
                                               std::memory_order_relaxed);
  }
  ++mine.calls;
  bool const is_decided = mine.calls > detail::decisions::ahead;
  // Both are ordered by the tags of entries, which are released and acquired.
  mine.next = is_decided ? decided.candidate_of[place_of(mine.calls)].load(std::memory_order_relaxed) : 0;
}

/// All ranks tell all, in the entries of the call.
void complete_as_equals(rank_state& me, rank_lesson& mine, bound_plan const& plan, void const* in, void* out,
                        void const* operation) {
  bound_plan const& now = candidate(plan, mine.learner.next());
  if (mine.learner.rests()) {
    complete_untimed(me, mine, now, in, out, operation);
    return mine.learner.called({});
  }
  flight f;
  complete_timed(me, f, mine, now, in, out, operation);
  learn(mine, told_by_all(me, f), plan, me.number == 0);
}

void complete_led(rank_state& me, rank_lesson& mine, bound_plan const& plan, void const* in, void* out,
                  void const* operation) {
  bool const is_leader = me.rank == *plan.candidacy.lessons->leader;
  bound_plan const& now = candidate(plan, mine.next);
  if (!is_leader || mine.learner.rests()) {
    complete_untimed(me, mine, now, in, out, operation);
    if (is_leader) mine.learner.called({});
  } else {
    flight f;
    learn(mine, complete_timed(me, f, mine, now, in, out, operation), plan, true);
  }
  follow(mine, plan.candidacy.lessons->of->decided, is_leader);
}

}  // namespace

void complete_and_learn(rank_state& me, bound_plan const& plan, void const* in, void* out, void const* operation) {
  rank_lesson& mine = lesson_of(me, plan);
  auto const complete_call = plan.candidacy.lessons->leader ? complete_led : complete_as_equals;
  complete_call(me, mine, plan, in, out, operation);
  resolve_candidates(me, mine, plan);
}

bound_plan const& best_of(rank_state const& me, bound_plan const& plan) {
  if (plan.candidacy.lessons == nullptr) return plan;
  rank_lesson const& mine = lesson_of(me, plan);
  bound_plan const& best = candidate(plan, plan.candidacy.lessons->leader ? mine.next : mine.learner.best());
  // Each channel would need staging of its own, which the plan without knowledge does not.
  return best.segments.layout.staging_bytes <= plan.segments.layout.staging_bytes ? best : plan;
}

}  // namespace coset::runtime
