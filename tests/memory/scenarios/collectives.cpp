// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include "coset/detail/collective.hpp"
#include "effort.hpp"
#include "memory/scenarios/ranks_alike.hpp"
#include "memory/scenarios/scenarios.hpp"
#include "planning/plan/bound_plan.hpp"

namespace coset::memory_test {
namespace {

/// Operations of eight bytes: payloads travel in entries. The caller may use its arrays again at once.
void sum_twice(member& me, arrays<1>& with) {
  auto const r = me.rank();
  allreduce(me, with.in[r], with.out[r], added{});
  with.in[r][0] = with.out[r][0];
  allreduce(me, with.in[r], with.out[r], added{});
}

void sum_once(member& me, arrays<1>& with) { allreduce(me, with.in[me.rank()], with.out[me.rank()], added{}); }

/// The root may be two operations ahead of who reads its lines.
void broadcast_often(member& me, arrays<1>& with) {
  auto const r = me.rank();
  for (long turn = 1; turn <= 3; ++turn) {
    if (r == 0) with.out[r][0] = turn;
    broadcast(me, with.out[r], 0);
    if (with.out[r][0] != turn) expect(false, "a broadcast of another turn");
  }
}

void broadcast_and_sum(member& me, arrays<1>& with) {
  auto const r = me.rank();
  broadcast(me, with.in[r], 1);
  allreduce(me, with.in[r], with.out[r], added{});
  broadcast(me, with.out[r], 0);
}

/// Longer than what entries carry: through staging, or from array to array.
template <std::size_t Count>
void sum_arrays(member& me, arrays<Count>& with) {
  auto const r = me.rank();
  allreduce(me, with.in[r], with.out[r], added{});
  with.in[r].fill(0);
  allreduce(me, with.out[r], added{});
}

template <std::size_t Count>
auto arrays_are(rank_t number, long value) {
  return [=](arrays<Count> const& with) {
    for (rank_t r = 0; r < number; ++r) {
      for (long const each : with.out[r]) {
        if (each != value) return "a wrong sum";
      }
    }
    return "";
  };
}

void start_and_wait(member& me, arrays<1>& with) {
  auto const r = me.rank();
  auto begun = start_allreduce(me, with.in[r], with.out[r], added{});
  barrier(me);
  begun.wait();
}

/// What a rank has left is its own again: it may be freed, which is what writing stands for here.
template <class Data>
void reuse(Data& with, rank_t r) {
  with.in[r].fill(-7);
  with.out[r].fill(-7);
}

/// The operation throws on the last rank, in the middle of its fold, if asked to.
struct added_by_some {
  bool throws = false;
  long operator()(long a, long b) const {
    if (throws) throw std::runtime_error("cannot add");
    return a + b;
  }
};

template <class Data>
void reuse_input(Data& with, rank_t r) {
  with.in[r].fill(-7);
}

template <std::size_t Count>
void sum_well(member& me, arrays<Count>& with) {
  auto const r = me.rank();
  allreduce(me, with.in[r], with.out[r], added{});
  allreduce(me, with.in[r], with.out[r], added_by_some{});
  broadcast(me, with.in[r], 1);
  barrier(me);
}

/// Ranks fold each other's arrays where they lie.
struct zero_copy : arrays<16> {
  std::optional<plan<long, added_by_some>> well, badly;

  void make_plans(team& of) {
    plan_options const options{.algorithm = "direct", .storage = "zero_copy"};
    well = make_plan<long>(of, 16, added_by_some{}, options);
    badly = make_plan<long>(of, 16, added_by_some{true}, options);
  }
};

void sum_in_place_of_all(member& me, zero_copy& with) {
  auto const r = me.rank();
  with.well->execute(me, with.in[r], with.out[r]);
  reuse_input(with, r);
}

/// Pieces of two elements, four of each of two ranks: all but the last one may be folded by the other.
struct shared_fold : arrays<16> {
  detail::plan_pair plans;

  void make_plans(team& of) {
    auto const made = detail::make_plans(of.state(), verb::allreduce, 16, detail::table_of<long, added_by_some>(),
                                         {.algorithm = "direct", .storage = "zero_copy"});
    auto shared = std::make_shared<detail::bound_plan>(*made.apart);
    shared->segments.shared_piece = 2;
    plans = {shared, shared};
  }
};

void sum_together(member& me, shared_fold& with) {
  auto const r = me.rank();
  added_by_some const operation;
  detail::execute(me.state(), with.plans, {with.in[r].data(), 16, with.out[r].data(), 16}, &operation);
  reuse_input(with, r);
}

void sum_together_badly(member& me, shared_fold& with) {
  auto const r = me.rank();
  added_by_some const operation{r == me.size() - 1};
  try {
    detail::execute(me.state(), with.plans, {with.in[r].data(), 16, with.out[r].data(), 16}, &operation);
  } catch (std::exception const&) {
    reuse(with, r);
    throw;
  }
}

void sum_badly(member& me, zero_copy& with) {
  auto const r = me.rank();
  try {
    (r == me.size() - 1 ? with.badly : with.well)->execute(me, with.in[r], with.out[r]);
  } catch (std::exception const&) {
    reuse(with, r);
    throw;
  }
}

/// A failure that a rank hears of as it begins another operation, while its arrays may still be read for the first.
void sum_badly_beside(member& me, zero_copy& with) {
  auto const r = me.rank();
  request begun;
  try {
    begun = (r == me.size() - 1 ? with.badly : with.well)->start(me, with.in[r], with.out[r]);
    barrier(me);
    begun.wait();
  } catch (std::exception const&) {
    reuse(with, r);
    throw;
  }
}
void sum_well_beside(member& me, zero_copy& with) {
  auto const r = me.rank();
  request begun = with.well->start(me, with.in[r], with.out[r]);
  barrier(me);
  begun.wait();
}

/// The last rank leaves by an exception before it has done anything; the others may be folding each other's arrays.
template <std::size_t Count>
void sum_unless_last(member& me, arrays<Count>& with) {
  auto const r = me.rank();
  try {
    if (r == me.size() - 1) detail::refuse(me.state(), "the last rank has had enough");
    allreduce(me, with.in[r], with.out[r], added{});
  } catch (std::exception const&) {
    reuse(with, r);
    throw;
  }
}

template <std::size_t Count>
void sum_that_throws(member& me, arrays<Count>& with) {
  auto const r = me.rank();
  try {
    allreduce(me, with.in[r], with.out[r], added_by_some{r == me.size() - 1});
    expect(r != me.size() - 1, "a sum that was not made");
  } catch (std::exception const&) {
    reuse(with, r);
    throw;
  }
}

/// One rank ends after the first of two operations: that one is complete for all, the second fails.
void leave_early(member& me, arrays<1>& with) {
  auto const r = me.rank();
  allreduce(me, with.in[r], with.out[r], added{});
  expect(with.out[r][0] == 3, "a wrong sum");
  if (r == 1) return;
  try {
    allreduce(me, with.in[r], with.out[r], added{});
  } catch (mismatch_error const&) {
    with.out[r][0] = 77;
    return;
  }
  expect(false, "a sum without the rank that has left");
}
char const* is_told(arrays<1> const& with) { return with.out[0][0] == 77 ? "" : "nobody was told"; }

void disagree(member& me, arrays<1>& with) {
  auto const r = me.rank();
  try {
    if (r == 0) allreduce(me, with.in[r], with.out[r], added{});
    if (r == 1) broadcast(me, with.in[r], 1);
    expect(r == 1, "a sum of what the other rank has not given");  // a root need not wait
    barrier(me);
  } catch (mismatch_error const& told) {
    std::string const text = told.what();
    bool const names_both = text.find("allreduce") != std::string::npos && text.find("broadcast") != std::string::npos;
    expect(names_both, "a mismatch that does not name both");
    with.out[r][0] = 77;
  }
}
char const* are_told(arrays<1> const& with) {
  return with.out[0][0] == 77 && with.out[1][0] == 77 ? "" : "a rank was not told";
}

template <std::size_t Count>
char const* nothing(arrays<Count> const&) {
  return "";
}

constexpr bounds no_membarrier{.preemptions = 2, .membarrier = false};
bounds const by_chance{.random = test::by_effort(5'000u, 5'000u, 10'000u)};
/// Where sleeping multiplies what each rank can do: one switch finds what is known to go wrong, two take most of a minute.
bounds const few_switches{.preemptions = test::by_effort(1u, 1u, 2u)};
constexpr bounds few_preemptions{.preemptions = 2}, few_with_naps{.preemptions = 2, .naps = 30};

}  // namespace

std::vector<scenario> collectives() {
  using enum waits;
  return {
      {"entries", each<arrays<1>>(2, polling, sum_twice, sums_are(2, 6))},
      {"entries of three", each<arrays<1>>(3, polling, sum_once, sums_are(3, 7)), few_preemptions},
      {"entries slept for", each<arrays<1>>(2, asking, sum_once, sums_are(2, 3))},
      {"entries slept for twice", each<arrays<1>>(2, asking, sum_twice, sums_are(2, 6)), few_switches},
      {"entries slept for without membarrier", each<arrays<1>>(2, asking_without_membarrier, sum_once, sums_are(2, 3)),
       no_membarrier},
      {"entries of two lines", each<arrays<8>>(2, polling, sum_arrays<8>, arrays_are<8>(2, 6))},
      {"reuse of lines", each<arrays<1>>(2, polling, broadcast_often, nothing<1>)},
      {"reuse of lines slept for", each<arrays<1>>(2, asking, broadcast_often, nothing<1>), few_switches},
      {"rooted and full in turn", each<arrays<1>>(2, polling, broadcast_and_sum, sums_are(2, 4))},
      {"arrays", each<arrays<40>>(2, polling, sum_arrays<40>, arrays_are<40>(2, 6))},
      {"arrays slept for", each<arrays<40>>(2, asking, sum_arrays<40>, arrays_are<40>(2, 6)), few_switches},
      {"requests", each<arrays<1>>(2, polling, start_and_wait, sums_are(2, 3)), few_preemptions},
      {"failure before a sum", each<arrays<40>>(2, polling, sum_unless_last<40>, nothing<40>, sum_well<40>)},
      {"failure beside a sum", each<arrays<40>>(3, polling, sum_unless_last<40>, nothing<40>, sum_well<40>),
       few_preemptions},
      {"failure in a sum", each<arrays<40>>(2, polling, sum_that_throws<40>, nothing<40>, sum_well<40>)},
      {"zero copy", each<zero_copy>(2, polling, sum_in_place_of_all, arrays_are<16>(2, 3))},
      {"zero copy of three", each<zero_copy>(3, polling, sum_in_place_of_all, arrays_are<16>(3, 7)), by_chance},
      {"a fold shared", each<shared_fold>(2, polling, sum_together, arrays_are<16>(2, 3)), few_preemptions},
      {"a fold shared by three", each<shared_fold>(3, polling, sum_together, arrays_are<16>(3, 7)), by_chance},
      {"failure in a shared fold", each<shared_fold>(2, polling, sum_together_badly, nothing<16>, sum_together),
       by_chance},
      {"failure in zero copy", each<zero_copy>(2, polling, sum_badly, nothing<16>, sum_in_place_of_all),
       few_preemptions},
      {"failure in zero copy of three", each<zero_copy>(3, polling, sum_badly, nothing<16>, sum_in_place_of_all),
       by_chance},
      {"failure beside a request", each<zero_copy>(3, polling, sum_badly_beside, nothing<16>, sum_well_beside),
       by_chance},
      {"leaving", each<arrays<1>>(2, asking, leave_early, is_told, sum_well<1>), few_with_naps},
      {"disagreement", each<arrays<1>>(2, asking, disagree, are_told, sum_well<1>), few_with_naps},
  };
}

}  // namespace coset::memory_test
