// SPDX-License-Identifier: Apache-2.0
#include "runtime/learning.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

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
  rank_lesson& mine = (*plan.candidacy.lessons->of)[me.rank];
  if (mine.failures != me.shared.marks.failures) {
    mine.learner.forget();
    mine.failures = me.shared.marks.failures;
    mine.began = mine.took = 0;
  }
  return mine;
}

bound_plan const& candidate(bound_plan const& plan, unsigned number) {
  return number == 0 ? plan : *plan.candidacy.lessons->others[number - 1];
}

/// Of all ranks, as their entries tell: who came last has waited for nobody. Peers have written these before their
/// tags, which this rank has met in this call; they write no others there before this rank's next call.
call_times least_told(rank_state const& me, flight const& f) {
  call_times least{longest, longest};
  auto const& lines = me.ends[f.line.channel].lines;
  for (rank_t q = 0; q < me.shared.ranks; ++q) {
    call_times times;
    std::memcpy(&times, lines[q]->entry[f.line.parity].payload.data(), sizeof times);
    least = {std::min(least.call, times.call), std::min(least.cycle, times.cycle)};
  }
  return least;
}

void tell_change(bound_plan const& plan, unsigned best) {
  text::complain(text::format("{}: {} from now on, as calls show", plan.what.text(),
                              program::policy_name(candidate(plan, best).code->storage)));
}

}  // namespace

void complete_and_learn(rank_state& me, bound_plan const& plan, void const* in, void* out, void const* operation) {
  rank_lesson& mine = lesson_of(me, plan);
  std::uint64_t const begin = ticks();
  bool const follows = mine.began != 0 && mine.generation == me.shared.marks.generation;
  me.acts.times = {mine.took, follows ? as_told(begin - mine.began) : 0};
  bool const alone = me.root.requests.live == 0;
  flight f;
  prepare(f, me, 0, candidate(plan, mine.learner.next()), in, out, operation);
  complete(me, f);
  mine.took = alone ? as_told(ticks() - begin) : 0;
  mine.began = begin;
  mine.generation = me.shared.marks.generation;
  unsigned const best = mine.learner.best();
  mine.learner.called(least_told(me, f));
  if (mine.learner.best() != best && me.number == 0 && text::plans_are_logged()) [[unlikely]]
    tell_change(plan, mine.learner.best());
}

bound_plan const& best_of(rank_state const& me, bound_plan const& plan) {
  if (plan.candidacy.lessons == nullptr) return plan;
  bound_plan const& best = candidate(plan, lesson_of(me, plan).learner.best());
  // Each channel would need staging of its own, which the plan without knowledge does not.
  return best.segments.layout.staging_bytes <= plan.segments.layout.staging_bytes ? best : plan;
}

}  // namespace coset::runtime
