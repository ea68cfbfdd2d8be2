// SPDX-License-Identifier: Apache-2.0
// Programs with messages: every verb, type and operation over hosts of many shapes, without MPI.
#include <gmock/gmock.h>

#include <set>

#include "support/hosts.hpp"
#include "support/walk.hpp"

namespace coset::team_test {
namespace {

std::string name_of(std::vector<host_shape> const& shapes) {
  std::string name;
  for (host_shape const& shape : shapes) {
    name += name.empty() ? "" : " | ";
    for (rank_t const threads : shape) name += std::to_string(threads) + " ";
  }
  return name;
}

/// Numbers of threads: processes of one host in brackets.
std::vector<std::vector<host_shape>> all_shapes() {
  std::vector<std::vector<host_shape>> const few{{{2}, {2}}, {{1}, {3}, {2}}, {{2, 1}, {2}}};
  std::vector<std::vector<host_shape>> more{few};
  more.insert(more.end(),
              {{{1}, {1}}, {{1}, {1}, {1}, {1}, {1}, {1}, {1}}, {{4}, {1}}, {{2, 2}, {1, 1, 1}}, {{3}, {3}, {3}}});
  return test::by_effort(few, more, more);
}

std::vector<std::string> const flat_algorithms{"auto",
                                               "direct",
                                               "ring",
                                               "circulant",
                                               "generalized(radix=3)",
                                               "generalized(saved_steps=1)",
                                               "recursive_doubling",
                                               "binomial",
                                               "bruck_ho",
                                               "three_two",
                                               "naive"};

/// Those of one level, and those of the hosts.
std::vector<std::string> algorithms_for(std::vector<host_shape> const& shapes) {
  std::string nodes;
  for (host_shape const& shape : shapes)
    nodes += (nodes.empty() ? "" : "+") + std::to_string(std::accumulate(shape.begin(), shape.end(), rank_t{0}));
  std::vector<std::string> all = flat_algorithms;
  for (std::string const rest : {",between=ring", ",leaders=2,radix=3", ",leaders=0"})
    all.push_back("two_level(nodes=" + nodes + rest + ")");
  for (std::string const name : {"unequal", "leaders"}) all.push_back(name + "(nodes=" + nodes + ")");
  return all;
}

void try_tasks(hosts& on, std::vector<plan_list> const& plans, engine& choices, std::size_t number) {
  auto const tasks = random_tasks(choices, number, on.size(), plans[0], false);
  auto shared = shared_arrays(tasks);
  std::uint64_t const seed = choices();
  std::vector<std::string> faults(on.size());
  auto const left = on.run([&](member& me) {
    std::size_t process = 0;
    while (&on.state(process) != &me.state().team) ++process;
    faults[me.rank()] = walk(me, plans[process], shared, seed).run(tasks);
  });
  for (auto const& fault : faults) ASSERT_EQ(fault, "");
  for (auto const& process : left) ASSERT_EQ(process.message, "");
}

TEST(Messages, OfAllTypesAndOperationsAreRight) {
  std::uint64_t const seed = test::seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine choices(seed);
  std::size_t const rounds = test::by_effort<std::size_t>(1, 1, 40);
  for (auto const& shapes : all_shapes()) {
    for (bool const one_proxy : {false, true}) {
      SCOPED_TRACE(name_of(shapes) + (one_proxy ? ", one proxy" : ""));
      hosts on(shapes, one_proxy);
      std::vector<plan_list> plans;
      std::uint64_t const same = choices();
      for (std::size_t p = 0; p < on.processes(); ++p) {
        engine alike(same);
        plans.push_back(random_plans(on.state(p), on.size(), alike, algorithms_for(shapes),
                                     {"auto", "staged", "zero_copy", "push", "pull"}, false));
      }
      ASSERT_FALSE(plans[0].empty());
      for (std::size_t k = 0; k < rounds; ++k) {
        try_tasks(on, plans, choices, test::by_effort<std::size_t>(12, 60, 100));
        if (::testing::Test::HasFatalFailure()) return;
      }
      EXPECT_GT(on.network().sent(), 0u);
    }
  }
}

detail::plan_pair plan_of_sums(detail::team_state& on, std::size_t count, plan_options const& options) {
  return detail::make_plans(on, verb::allreduce, count, detail::table_of<int, plus>(), options);
}

TEST(Offloads, OfAllTypesAndOperationsAreRight) {
  std::uint64_t const seed = test::seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine choices(seed);
  for (auto const& shapes : all_shapes()) {
    for (bool const one_proxy : {false, true}) {
      SCOPED_TRACE(name_of(shapes) + (one_proxy ? ", one proxy" : ""));
      auto const slices = static_cast<rank_t>(1 + below(choices, 5));
      hosts on(shapes, one_proxy, {}, slices);
      std::vector<plan_list> plans;
      std::uint64_t const same = choices();
      for (std::size_t p = 0; p < on.processes(); ++p) {
        engine alike(same);
        // Of two_level with two leaders and direct between them, and of what is taken without a name.
        std::string nodes;
        for (host_shape const& shape : shapes)
          nodes += (nodes.empty() ? "" : "+") + std::to_string(std::accumulate(shape.begin(), shape.end(), 0u));
        plans.push_back(random_plans(on.state(p), on.size(), alike,
                                     {"auto", "two_level(nodes=" + nodes + ",leaders=0,between=direct,saved_steps=1)",
                                      "two_level(nodes=" + nodes + ",leaders=2,inner=2,between=direct,saved_steps=1)"},
                                     {"staged+library", "staged_pull+library", "zero_copy+library", "push+library"},
                                     false));
      }
      ASSERT_FALSE(plans[0].empty());
      for (std::size_t k = 0; k < test::by_effort<std::size_t>(1, 1, 40); ++k) {
        try_tasks(on, plans, choices, test::by_effort<std::size_t>(12, 60, 100));
        if (::testing::Test::HasFailure()) return;
      }
      EXPECT_GT(on.network().offloaded(), 0u);
    }
  }
}

TEST(Offloads, TakeTheirPlaceInPlansAndLeaveAgreementToMessages) {
  hosts on({{3}, {2}}, false, {}, 2);
  on.run([](member& me) {
    auto const plan = plan_of_sums(me.state().team, 1000, {.storage = "staged+library"});
    EXPECT_NE(detail::describe(*plan.apart)
                  .find("two_level(between=direct,leaders=2,nodes=3+2,saved_steps=1), staged+library"),
              std::string::npos)
        << detail::describe(*plan.apart);
    std::vector<int> mine(1000, 1);
    plus const op;
    detail::execute(me.state(), plan, {mine.data(), 1000, mine.data(), 1000}, &op);
    EXPECT_EQ(std::ranges::count(mine, 5), 1000);
  });
  EXPECT_EQ(on.network().offloaded(), 2u);
  EXPECT_EQ(on.network().sent(), 4u);  // each combiner to the other one of its slice
}

TEST(Offloads, OfSeveralBlocksKeepThemApart) {
  hosts on({{2}, {2}}, false, {}, 2);
  on.run([](member& me) {
    auto const plan =
        plan_of_sums(me.state().team, 1000, {.algorithm = "generalized(saved_steps=1)", .storage = "staged+library"});
    auto const& code = *plan.apart->code;
    EXPECT_TRUE(std::ranges::any_of(code.of[me.state().rank].code, [](program::instruction const& i) {
      return i.what == program::action::offload && i.sources > 1;
    }));
    std::vector<int> mine(1000), expected(1000);
    std::iota(mine.begin(), mine.end(), static_cast<int>(me.rank()));
    for (int i = 0; i < 1000; ++i) expected[static_cast<std::size_t>(i)] = 4 * i + 6;
    plus const op;
    detail::execute(me.state(), plan, {mine.data(), 1000, mine.data(), 1000}, &op);
    EXPECT_EQ(mine, expected);
  });
  EXPECT_EQ(on.network().offloaded(), 2u);
}

TEST(Offloads, OfSeveralStepsAskOnceWhetherAllAgree) {
  hosts on({{3}, {1}}, false, {}, 1);
  on.run([](member& me) {
    auto const plan =
        plan_of_sums(me.state().team, 10, {.algorithm = "recursive_doubling", .storage = "staged+library"});
    plus const op;
    for (int k = 0; k < 3; ++k) {
      std::vector<int> mine(10, 1 + static_cast<int>(me.rank()));
      detail::execute(me.state(), plan, {mine.data(), 10, mine.data(), 10}, &op);
      EXPECT_EQ(std::ranges::count(mine, 10), 10);
    }
  });
  EXPECT_EQ(on.network().offloaded(), 6u);
}

TEST(Offloads, AreRefusedWhereTheyCannotServe) {
  auto const refusal = [](hosts& on, auto const& table, plan_options options) {
    options.storage = "staged+library";
    return outcome_of([&] { detail::make_plans(on.state(0), verb::allreduce, 10, table, options); }).message;
  };
  auto const& sums = detail::table_of<int, plus>();
  hosts on({{2}, {2}}, false, {}, 1), without({{2}, {2}}, false), alone({{2, 1}}, false, {}, 1);
  EXPECT_EQ(refusal(on, sums, {}), "");
  EXPECT_EQ(refusal(on, sums, {.algorithm = "two_level(nodes=2+2,leaders=1,radix=2,saved_steps=1)"}), "");
  EXPECT_THAT(refusal(on, sums, {.algorithm = "ring"}), ::testing::HasSubstr("needs a step in which"));
  EXPECT_THAT(refusal(on, sums, {.algorithm = "two_level(nodes=2+2,leaders=2,between=direct,saved_steps=1)"}),
              ::testing::HasSubstr("library_leaders = 2 for this schedule, not 1"));
  EXPECT_THAT(refusal(without, sums, {}), ::testing::HasSubstr("made with mpi::options::library_leaders"));
  EXPECT_THAT(refusal(alone, sums, {}), ::testing::HasSubstr("share memory"));
  EXPECT_THAT(refusal(on, detail::table_of<float, plus>(), {}), ::testing::HasSubstr("bits::per_rank"));
  EXPECT_EQ(refusal(on, detail::table_of<float, plus>(), {.required = bits::per_rank}), "");
  auto const with_state = [sign = 1](int a, int b) { return sign * (a + b); };
  EXPECT_THAT(
      refusal(on, detail::table_of<int, std::remove_const_t<decltype(with_state)>>(), {.required = bits::per_rank}),
      ::testing::HasSubstr("no state"));
}

TEST(Offloads, BeginOnlyWhereAllHostsAgree) {
  hosts on({{2}, {1}, {2}}, false, {}, 1);
  for (int k = 0; k < test::by_effort(5, 20, 100); ++k) {
    std::vector<outcome> all(on.size());
    on.run([&](member& me) {
      all[me.rank()] = outcome_of([&] {
        std::size_t const count = me.rank() == 2 ? 11 : 10;
        auto const plan = plan_of_sums(me.state().team, count, {.storage = "staged+library"});
        std::vector<int> x(count);
        plus const op;
        detail::execute(me.state(), plan, {x.data(), count, x.data(), count}, &op);
      });
    });
    expect_everybody_threw<mismatch_error>(all, {"11 ", "10 ", "allreduce"});
    EXPECT_EQ(on.network().offloaded(), 0u);
  }
}

TEST(Messages, CarryLongVectorsInSegmentsThatOverlap) {
  hosts on({{2}, {1}, {2}}, false);
  std::size_t const count = test::by_effort<std::size_t>(300'000, 700'000, 3'000'000);
  std::atomic<int> right = 0;
  auto const left = on.run([&](member& me) {
    std::vector<double> x(count, me.rank() + 1.0);
    x.back() = 100.0 * me.rank();
    allreduce(me, x);
    right += std::count(x.begin(), x.end() - 1, 15.0) == static_cast<std::ptrdiff_t>(count - 1) && x.back() == 1000.0;
  });
  for (auto const& process : left) EXPECT_EQ(process.message, "");
  EXPECT_EQ(right, 5);
}

/// Red if who finds a message to be another's names no type, or only its own.
TEST(Messages, TellWhatTypesThereAre) {
  hosts on({{1}, {1}}, false);
  for (bool const lengths_differ : {true, false}) {
    std::vector<outcome> all(on.size());
    on.run([&](member& me) {
      all[me.rank()] = outcome_of([&] {
        if (lengths_differ) {
          std::vector<int> x(10 + me.rank());
          allreduce(me, x);
        } else if (me.rank() == 0) {
          static_cast<void>(allreduce(me, 1));
        } else {
          static_cast<void>(allreduce(me, 1.5));
        }
      });
    });
    expect_everybody_threw<mismatch_error>(
        all, {" int (coset::plus)", lengths_differ ? "of 11 int" : " double (coset::plus)"});
  }
}

/// In the memory that processes of one host share: red if the others wait for ever.
TEST(Messages, AreNotAwaitedFromAProcessThatThrewWhatIsNoException) {
  hosts on({{2, 1}}, false);
  std::vector<outcome> all(on.size());
  on.run([&](member& me) {
    if (me.rank() == 2) throw 42;
    all[me.rank()] = outcome_of([&] { barrier(me); });
  });
  all.pop_back();
  expect_everybody_threw<aborted>(all, {"rank 2 ended with an exception"});
  std::atomic<int> right = 0;
  on.run([&](member& me) { right += allreduce(me, 1) == 3; });
  EXPECT_EQ(right, 3);
}

TEST(Messages, TellADisagreementToEveryHost) {
  hosts on({{2}, {2}, {1}}, false);
  std::vector<outcome> all(on.size());
  on.run([&](member& me) {
    all[me.rank()] = outcome_of([&] {
      std::vector<int> x(me.rank() == 3 ? 10 : 11);
      allreduce(me, x);
    });
  });
  expect_everybody_threw<mismatch_error>(all, {"11 ", "10 ", "allreduce"});
  std::atomic<int> right = 0;
  on.run([&](member& me) { right += allreduce(me, 1) == 5; });
  EXPECT_EQ(right, 5);
}

TEST(Messages, TellAnExceptionToEveryHost) {
  hosts on({{2}, {1}}, false);
  std::vector<outcome> inside(on.size());
  auto const left = on.run([&](member& me) {
    if (me.rank() == 1) throw std::logic_error("of rank 1");
    inside[me.rank()] = outcome_of([&] {
      for (int k = 0; k < 2; ++k) barrier(me);
    });
  });
  EXPECT_EQ(left[0].message, "of rank 1");
  for (rank_t r : {0u, 2u}) {
    EXPECT_EQ(inside[r].type, type_name<aborted>()) << inside[r].message;
    EXPECT_THAT(inside[r].message, ::testing::HasSubstr("rank 1 ended with an exception: of rank 1"));
  }
}

TEST(Messages, OfARankThatThrewWithAnOperationStartedAreGivenUp) {
  for (bool const is_exception : {true, false}) {
    hosts on({{2, 1}}, false);
    std::vector<outcome> all(on.size());
    std::atomic<bool> has_started = false;
    std::optional<request> kept;  // outlives the run, whose end gives its operation up
    std::vector<int> x(10, 1);
    on.run([&](member& me) {
      if (me.rank() != 2) {
        std::vector<int> y(10, 1);
        while (!has_started) std::this_thread::yield();  // so that the operation is not complete by then
        all[me.rank()] = outcome_of([&] {
          start_allreduce(me, y).wait();
          barrier(me);
        });
        return;
      }
      kept = start_allreduce(me, x);
      has_started = true;
      if (is_exception) throw std::logic_error("of rank 2");
      throw 42;
    });
    all.pop_back();
    expect_everybody_threw<aborted>(all, {"rank 2 ended with an exception"});
    EXPECT_EQ(on.state(1).members[2]->requests.live, 0u);
    kept.reset();
    std::atomic<int> right = 0;
    on.run([&](member& me) { right += allreduce(me, 1) == 3; });
    EXPECT_EQ(right, 3);
  }
}

TEST(Messages, MissingFailTheTeamAtTheDeadline) {
  for (std::vector<host_shape> const& shapes : {std::vector<host_shape>{{1}, {2}}, {{1, 2}}}) {
    hosts on(shapes, false, std::chrono::milliseconds(20));
    std::vector<outcome> all(on.size());
    std::atomic<int> waiting = 2;
    on.run([&](member& me) {
      if (me.rank() == 0) {  // is there, and never calls
        while (waiting > 0) std::this_thread::yield();
        return;
      }
      all[me.rank()] = outcome_of([&] { barrier(me); });
      --waiting;
    });
    for (rank_t r : {1u, 2u}) EXPECT_EQ(all[r].type, type_name<mpi::error>()) << all[r].message;
  }
}

TEST(Messages, CrossBetweenHostsOncePerValue) {
  // Every rank reads every input, yet each host gets each of them once.
  hosts on({{3}, {3}}, false);
  on.run([](member& me) {
    auto const plan = detail::make_plans(me.state().team, verb::allreduce, 1, detail::table_of<int, plus>(),
                                         {.algorithm = "direct(saved_steps=1)"});
    int mine = 1, sum = 0;
    plus const op;
    detail::execute(me.state(), plan, {&mine, 1, &sum, 1}, &op);
    EXPECT_EQ(sum, 6);
  });
  EXPECT_EQ(on.network().sent(), 6u);
}

/// In the memory that processes of one host share. Red if the others wait for ever.
TEST(Messages, AreNotAwaitedFromAProcessThatHasLeft) {
  hosts on({{2, 1}}, false);
  std::vector<outcome> all(on.size());
  on.run([&](member& me) {
    if (me.rank() == 2) return;
    all[me.rank()] = outcome_of([&] { barrier(me); });
  });
  all.pop_back();
  expect_everybody_threw<mismatch_error>(all, {"has left"});
}

TEST(Messages, SayWhatAnotherHostCalls) {
  auto const said = [](std::function<void(member&)> const& call) {
    hosts on({{1}, {1}}, false);
    std::vector<outcome> all(on.size());
    on.run([&](member& me) { all[me.rank()] = outcome_of([&] { call(me); }); });
    for (auto const& each : all) EXPECT_EQ(each.type, type_name<mismatch_error>()) << each.message;
    return all[0].message;
  };
  std::string const verbs = said([](member& me) {
    std::array<int, 4> x{};
    std::array<int, 2> half{};
    me.rank() == 0 ? reduce_scatter(me, x, half) : allgather(me, half, x);
  });
  EXPECT_THAT(verbs, ::testing::HasSubstr("reduce_scatter"));
  EXPECT_THAT(verbs, ::testing::HasSubstr("allgather"));
}

}  // namespace
}  // namespace coset::team_test
