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
  std::shared_ptr<detail::shape_lessons> learned = std::make_shared<detail::shape_lessons>();
  std::vector<detail::plan_pair> made;

  void make_plans(team& of) {
    std::vector<std::shared_ptr<detail::bound_plan>> candidates;
    for (char const* const storage : {"staged", "zero_copy"}) {
      made.push_back(detail::make_plans(of.state(), verb::allreduce, 8, detail::table_of<long, added>(),
                                        {.algorithm = "direct", .storage = storage}));
      candidates.push_back(std::make_shared<detail::bound_plan>(*made.back().apart));
      if (!candidates.back()->code->all_meet) throw std::logic_error("not every rank reads every entry");
    }
    learned->of_rank.assign(of.size(), fresh);
    planning::make_candidates(candidates, learned, std::nullopt);
    first = candidates[0];
  }
  void begin() {
    arrays::begin();
    for (detail::rank_lesson& each : learned->of_rank) each = fresh;
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
  auto const& first = with.learned->of_rank.front().learner;
  for (detail::rank_lesson const& each : with.learned->of_rank) {
    if (std::memcmp(&each.learner, &first, sizeof first) != 0) return "ranks have learned differently";
  }
  return "";
}

/// Verbs in which not all meet: rank 0, the root, tries another storage at every call from the fifth on. Ranks that do not agree
/// end with an error; three storages, as with two a decision would be mistaken for that of four calls later.
template <verb What>
struct led_lessons : arrays<8> {
  detail::rank_lesson const fresh{
      choice::learner(3, {.before = 0, .window = 1, .skipped = 0, .rounds = 8, .ahead = detail::decisions::ahead})};
  std::shared_ptr<detail::bound_plan> first;
  std::shared_ptr<detail::shape_lessons> learned = std::make_shared<detail::shape_lessons>();
  std::vector<detail::plan_pair> made;

  void make_plans(team& of) {
    std::vector<std::shared_ptr<detail::bound_plan>> candidates;
    for (char const* const storage : {"staged+return", "zero_copy", "staged"}) {
      made.push_back(detail::make_plans(of.state(), What, 8, detail::copy_of<long>(),
                                        {.algorithm = "direct", .storage = storage}));
      candidates.push_back(std::make_shared<detail::bound_plan>(*made.back().apart));
    }
    learned->of_rank.assign(of.size(), fresh);
    planning::make_candidates(candidates, learned, rank_t{0});
    first = candidates[0];
  }
  void begin() {
    arrays::begin();
    for (detail::rank_lesson& each : learned->of_rank) each = fresh;
    for (auto& candidate : learned->decided.candidate_of) candidate.store(0, std::memory_order_relaxed);
  }
};

template <verb What, int Calls>
void be_led(member& me, led_lessons<What>& with) {
  auto const r = me.rank();
  for (int calls = 0; calls < Calls; ++calls)
    runtime::complete_and_learn(me.state(), *with.first, with.in[r].data(), with.out[r].data(), nullptr);
}

/// Other operations come between, of which some let the root get ahead.
template <verb What, int Calls>
void be_led_among_others(member& me, led_lessons<What>& with) {
  for (int calls = 0; calls < Calls; ++calls) {
    be_led<What, 1>(me, with);
    if (calls % 2 == 0) broadcast(me, with.in[me.rank()], 1);
  }
}

template <verb What>
char const* all_have_been_led_alike(led_lessons<What> const& with) {
  auto const& of = with.learned->of_rank;
  for (detail::rank_lesson const& each : of)
    if (each.calls != of.front().calls || each.next != of.front().next) return "ranks have been led differently";
  return "";
}

template <verb What, int Calls>
scenario led(char const* name, bounds within) {
  return {name, each<led_lessons<What>>(2, waits::polling, be_led<What, Calls>, all_have_been_led_alike<What>), within};
}
template <verb What, int Calls>
scenario led_among_others(char const* name, bounds within) {
  return {name,
          each<led_lessons<What>>(2, waits::polling, be_led_among_others<What, Calls>, all_have_been_led_alike<What>),
          within};
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
      led<verb::broadcast, 6>("led from a root", {.preemptions = 1}),
      led<verb::gather, 6>("led to a root", {.preemptions = 1}),
      led<verb::broadcast, 11>("led from a root for long", {.random = 3'000}),
      led<verb::gather, 11>("led to a root for long", {.random = 3'000}),
      led_among_others<verb::gather, 7>("led among others", {.random = 3'000}),
  };
}

}  // namespace coset::memory_test
