// SPDX-License-Identifier: Apache-2.0
// Calls whose plan follows from what all ranks were told in earlier ones: nobody takes another than the rest.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "coset/detail/collective.hpp"
#include "memory/scenarios/ranks_alike.hpp"
#include "memory/scenarios/scenarios.hpp"
#include "planning/plan/binding.hpp"
#include "runtime/learning.hpp"

namespace coset::memory_test {
namespace {

/// Two storages, and a learner that tries the other one at the second call already, and again at the fourth unless it is
/// far slower.
struct lessons : arrays<8> {
  std::shared_ptr<detail::bound_plan> first;
  detail::rank_lesson const fresh{choice::learner(2, {.before = 0, .window = 1, .skipped = 0, .rounds = 2})};
  std::shared_ptr<std::vector<detail::rank_lesson>> learned;
  std::vector<detail::plan_pair> made;

  void make_plans(team& of) {
    std::vector<std::shared_ptr<detail::bound_plan>> candidates;
    for (char const* const storage : {"staged", "zero_copy"}) {
      made.push_back(detail::make_plans(of.state(), verb::allreduce, 8, detail::table_of<long, added>(),
                                        {.algorithm = "direct", .storage = storage}));
      candidates.push_back(std::make_shared<detail::bound_plan>(*made.back().apart));
      if (!candidates.back()->code->all_meet) throw std::logic_error("not every rank reads every entry");
    }
    learned = std::make_shared<std::vector<detail::rank_lesson>>(of.size(), fresh);
    planning::make_candidates(candidates, learned);
    first = candidates[0];
  }
  void begin() {
    arrays::begin();
    for (detail::rank_lesson& each : *learned) each = fresh;
  }
};

void call(member& me, lessons& with) {
  added const operation;
  auto const r = me.rank();
  runtime::complete_and_learn(me.state(), *with.first, with.in[r].data(), with.out[r].data(), &operation);
  with.in[r] = with.out[r];
}

/// The times differ from rank to rank and from call to call.
template <int Calls>
void learn(member& me, lessons& with) {
  for (int calls = 0; calls < Calls; ++calls) call(me, with);
}

/// Whoever waits for nobody may be a call ahead, but tells nothing new until all have read the old.
void learn_among_others(member& me, lessons& with) {
  auto const r = me.rank();
  call(me, with);
  broadcast(me, with.in[r], 0);
  call(me, with);
}

/// The last rank ends a run after a call that others may not have completed.
void learn_anew(member& me, lessons& with) {
  call(me, with);
  try {
    call(me, with);
    if (me.rank() == me.size() - 1) detail::refuse(me.state(), "the last rank has had enough");
    barrier(me);
  } catch (std::exception const&) {
    with.in[me.rank()].fill(1);
  }
  me.reset(team::clock::time_point::max());
  call(me, with);
  call(me, with);
}

void learn_and_meet(member& me, lessons& with) {
  learn<2>(me, with);
  barrier(me);
}

char const* all_have_learned_alike(lessons const& with) {
  auto const& first = with.learned->front().learner;
  for (detail::rank_lesson const& each : *with.learned) {
    if (std::memcmp(&each.learner, &first, sizeof first) != 0) return "ranks have learned differently";
  }
  return "";
}

}  // namespace

std::vector<scenario> calls_that_learn() {
  using enum waits;
  return {
      {"learning", each<lessons>(2, polling, learn<2>, all_have_learned_alike), {.preemptions = 2}},
      {"learning for long", each<lessons>(2, polling, learn<5>, all_have_learned_alike), {.random = 5'000}},
      {"learning of three", each<lessons>(3, polling, learn<3>, all_have_learned_alike), {.random = 5'000}},
      {"learning among others",
       each<lessons>(2, polling, learn_among_others, all_have_learned_alike),
       {.preemptions = 1}},
      {"learning after a failure",
       each<lessons>(2, polling, learn_anew, all_have_learned_alike, learn_and_meet),
       {.random = 5'000}},
  };
}

}  // namespace coset::memory_test
