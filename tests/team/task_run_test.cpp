// SPDX-License-Identifier: Apache-2.0
// Ranks that are no threads, carried by whichever thread, in whichever order: nothing waits, and nothing takes longer
// than the program's own chains of waits.
#include <algorithm>
#include <stdexcept>
#include <thread>

#include "coset/detail/task_run.hpp"
#include "planning/plan/bound_plan.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "support/tasks.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

using body = std::function<std::vector<request>(member&)>;

/// Which ranks a thread carries in a sweep, and in which order.
using order = std::function<void(std::vector<rank_t>&)>;

order shuffled(engine& choices) {
  return [&choices](std::vector<rank_t>& ranks) { std::shuffle(ranks.begin(), ranks.end(), choices); };
}

/// One run, by so many threads; how many sweeps it takes. Throws what the run throws.
std::size_t carry(team& ranks, std::size_t threads, order const& arrange, body const& start) {
  std::vector<std::vector<request>> held(ranks.size());
  detail::task_run under_way(ranks);
  struct context {
    body const& start;
    std::vector<std::vector<request>>& held;
  } given{start, held};
  auto const begin = [](void* erased, member& me) {
    auto& [of_rank, requests] = *static_cast<context*>(erased);
    requests[me.rank()] = of_rank(me);
  };
  std::vector<rank_t> left(ranks.size());
  std::iota(left.begin(), left.end(), rank_t{0});
  std::size_t sweeps = 0;
  for (; !left.empty(); ++sweeps) {
    EXPECT_LT(sweeps, 10'000u) << "nobody gets on";
    if (sweeps == 10'000) break;
    arrange(left);
    std::vector<char> done(left.size());
    auto const work = [&](std::size_t first) {
      for (std::size_t k = first; k < left.size(); k += threads)
        done[k] = sweeps == 0 ? under_way.start(left[k], begin, &given) : under_way.go_on(left[k]);
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t t = 1; t < std::min(threads, left.size()); ++t) others.emplace_back(work, t);
      work(0);
    }
    std::vector<rank_t> still;
    for (std::size_t k = 0; k < left.size(); ++k)
      if (!done[k]) still.push_back(left[k]);
    left = still;
  }
  held.clear();
  under_way.end();
  return sweeps;
}

void serially(team& ranks, body const& start) {
  carry(
      ranks, 1, [](auto&) {}, start);
}

void expect_tasks_work(team& ranks) {
  batch sum(task{.what = verb::allreduce, .counts = std::vector<std::size_t>(ranks.size(), 100)}, ranks.size());
  serially(ranks, [&](member& me) { return sum.start(me); });
  EXPECT_EQ(sum.fault(), "");
}

/// Red if a rank keeps anything of the thread that carried it last, or of the run before.
TEST(Tasks, AreRightWhoeverCarriesThem) {
  engine choices(test::seed());
  SCOPED_TRACE("seed " + std::to_string(test::seed()));
  std::size_t const teams = test::by_effort<std::size_t>(20, 100, 1000);
  for (std::size_t t = 0; t < teams; ++t) {
    auto const p = static_cast<rank_t>(1 + below(choices, 9));
    auto const ranks = detail::make_task_team(p);
    for (int run = 0; run < 10; ++run) {
      batch tasks(choices, p);
      carry(*ranks, 1 + below(choices, 3), shuffled(choices), [&](member& me) { return tasks.start(me); });
      ASSERT_EQ(tasks.fault(), "");
    }
  }
}

/// The longest chain of waits for other ranks: how many sweeps but one a program may take.
std::size_t longest_chain(program::compiled const& code) {
  std::vector<std::vector<std::size_t>> signalled(code.ranks, std::vector<std::size_t>(code.span + 2, 0));
  std::size_t longest = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (rank_t r = 0; r < code.ranks; ++r) {
      program::program const& mine = code.of[r];
      std::size_t at = 0, w = 0;
      for (auto const& i : mine.code) {
        for (; w < i.waits_end; ++w) at = std::max(at, 1 + signalled[mine.waits[w].rank][mine.waits[w].signal]);
        if (i.signal == 0 || signalled[r][i.signal] >= at) continue;
        signalled[r][i.signal] = at;
        changed = true;
      }
      for (rank_t q : mine.unmet) at = std::max(at, 1 + signalled[q][program::entry_signal]);
      longest = std::max(longest, at);
    }
  }
  return longest;
}

/// Red if go_on() leaves a rank before the first wait that is not over yet: before the next instruction, say.
TEST(Tasks, NeedOneSweepForEachOfTheWaitsThatFollowOneAnother) {
  engine choices(test::seed());
  std::vector<order> const orders{[](auto& r) { std::sort(r.begin(), r.end()); },
                                  [](auto& r) { std::sort(r.begin(), r.end(), std::greater<>()); }, shuffled(choices)};
  std::size_t tried = 0;
  for (rank_t p : {2u, 3u, 6u, 8u, 9u})
    for (auto const* const algorithm : {"direct", "ring", "binomial", "recursive_doubling", "generalized(radix=2)",
                                        "circulant", "dissemination", "binomial(radix=3)"})
      for (std::size_t const count : {3u, 4000u}) {
        auto const ranks = detail::make_task_team(p);
        detail::plan_pair plans{};
        try {
          plans = detail::make_plans(ranks->state(), verb::allreduce, count, detail::table_of<int, plus>(),
                                     {.algorithm = algorithm});
        } catch (schedule_error const&) {
          continue;
        }
        for (order const& arrange : orders) {
          std::vector<std::vector<int>> in(p, std::vector<int>(count, 1)), out(p, std::vector<int>(count));
          std::size_t const sweeps = carry(*ranks, 1, arrange, [&](member& me) {
            std::vector<request> one;
            auto &mine = in[me.rank()], &sum = out[me.rank()];
            one.push_back(detail::start(me.state(), plans, {mine.data(), count, sum.data(), count}, nullptr));
            return one;
          });
          EXPECT_LE(sweeps, longest_chain(*plans.apart->code) + 1) << algorithm << " on " << p;
          EXPECT_EQ(out, std::vector(p, std::vector<int>(count, static_cast<int>(p)))) << algorithm << " on " << p;
          ++tried;
        }
      }
  EXPECT_GT(tried, 100u);
}

/// Red if a run forgets what the one before has planned.
TEST(Tasks, PlanNothingTwice) {
  auto const ranks = detail::make_task_team(5);
  auto const run = [&] {
    for (std::size_t const count : {7u, 5000u}) {
      batch sum(task{.what = verb::allreduce, .counts = std::vector<std::size_t>(5, count)}, 5);
      serially(*ranks, [&](member& me) { return sum.start(me); });
      EXPECT_EQ(sum.fault(), "");
    }
  };
  auto const plans = [&] {
    std::vector<detail::bound_plan const*> all;
    for (auto const& m : ranks->state().members)
      for (auto const& [key, plan] : m->plans.all) all.push_back(plan.get());
    return all;
  };
  run();
  auto const before = plans();
  EXPECT_EQ(before.size(), 10u);
  run();
  EXPECT_EQ(plans(), before);
}

std::vector<request> alone(request one) {
  std::vector<request> all;
  all.push_back(std::move(one));
  return all;
}

struct TaskFailures : ::testing::TestWithParam<rank_t> {
  std::unique_ptr<team> ranks = detail::make_task_team(GetParam());
  rank_t const p = GetParam();
  std::vector<std::vector<int>> arrays{p, std::vector<int>(1000, 1)};

  request sum(member& me) { return start_allreduce(me, arrays[me.rank()]); }
  rank_t who(int k) const { return k == 0 ? 0 : k == 1 ? p / 2 : p - 1; }

  /// What a run throws if one rank, at the beginning, in the middle, at the end, does something else; the team works
  /// afterwards.
  template <class Error>
  void expect_thrown(std::string const& words, std::function<std::vector<request>(member&)> const& other) {
    engine choices(test::seed());
    for (int k = 0; k < 3; ++k)
      for (std::size_t const threads : {1u, 3u}) {
        auto const thrown = outcome_of([&] {
          carry(*ranks, threads, shuffled(choices),
                [&](member& me) { return me.rank() == who(k) ? other(me) : alone(sum(me)); });
        });
        EXPECT_EQ(thrown.type, type_name<Error>()) << thrown.message;
        EXPECT_NE(thrown.message.find(words), std::string::npos) << thrown.message;
        expect_tasks_work(*ranks);
      }
  }
};

/// Red if step() does not fail the team: the others are never done.
TEST_P(TaskFailures, AreTheExceptionOfTheRankThatHadIt) {
  expect_thrown<std::domain_error>("told so",
                                   [](member&) -> std::vector<request> { throw std::domain_error("told so"); });
}

TEST_P(TaskFailures, OfAnOperationAreItsOwn) {
  if (p == 1) return;
  engine choices(test::seed());
  for (int k = 0; k < 3; ++k)
    for (std::size_t const threads : {1u, 3u}) {
      for (auto& array : arrays) array.assign(50'000, 1);
      auto const thrown = outcome_of([&] {
        carry(*ranks, threads, shuffled(choices), [&](member& me) {
          bool const throws = me.rank() == who(k);
          return alone(start_allreduce(me, arrays[me.rank()], [throws](int a, int b) {
            if (throws) throw std::domain_error("told so");
            return a + b;
          }));
        });
      });
      EXPECT_EQ(thrown.type, type_name<std::domain_error>()) << thrown.message;
      expect_tasks_work(*ranks);
    }
}

TEST_P(TaskFailures, OfRanksThatDisagreeNameBoth) {
  if (p == 1) return;
  expect_thrown<mismatch_error>(
      "999", [&](member& me) { return alone(start_allreduce(me, std::span(arrays[me.rank()]).first(999))); });
  expect_thrown<mismatch_error>("broadcast",
                                [&](member& me) { return alone(start_broadcast(me, arrays[me.rank()], 0)); });
}

/// Red if ranks that are done are not marked as gone.
TEST_P(TaskFailures, ComeOfARankThatStartsNothing) {
  if (p == 1) return;
  expect_thrown<mismatch_error>("has left", [](member&) { return std::vector<request>(); });
}

TEST_P(TaskFailures, ComeOfARequestThatIsGivenUp) {
  if (p == 1) return;
  expect_thrown<aborted>("gave up", [&](member& me) {
    request one = sum(me);
    if (one.test()) throw aborted("nothing was left that one gave up");  // others came first, and it is complete
    return std::vector<request>();
  });
}

TEST_P(TaskFailures, ComeOfWhateverWouldWait) {
  std::vector<std::function<void(member&)>> const waits{
      [&](member& me) { allreduce(me, arrays[me.rank()]); }, [](member& me) { barrier(me); },
      [&](member& me) { (void)allreduce_view(me, arrays[me.rank()]); }, [](member& me) { (void)me.split(0); },
      [](member& me) { me.reset(member::clock::now()); }};
  for (auto const& wait : waits)
    expect_thrown<argument_error>("", [&](member& me) {
      wait(me);
      return std::vector<request>();
    });
  if (p == 1) return;  // complete when they are started
  expect_thrown<argument_error>("request::wait()", [&](member& me) {
    request one = sum(me);
    if (one.test()) throw argument_error("request::wait() had nothing to wait for");
    one.wait();
    return alone(std::move(one));
  });
  expect_thrown<argument_error>("request::wait_for()", [&](member& me) {
    request one = sum(me);
    if (one.test()) throw argument_error("request::wait_for() had nothing to wait for");
    one.wait_for(std::chrono::seconds(0));
    return alone(std::move(one));
  });
}

TEST_P(TaskFailures, ComeOfANinthOperation) {
  std::vector<std::vector<int>> of_each(9 * p, std::vector<int>(1000, 1));
  for (int const number : {8, 9}) {
    auto const thrown = outcome_of([&] {
      serially(*ranks, [&](member& me) {
        std::vector<request> all;
        for (int k = 0; k < number; ++k) all.push_back(start_allreduce(me, of_each[9 * me.rank() + unsigned(k)]));
        return all;
      });
    });
    EXPECT_EQ(thrown.type, number == 8 ? "" : type_name<argument_error>()) << thrown.message;
    EXPECT_EQ(thrown.message.find("operation 9 of one run") != std::string::npos, number == 9) << thrown.message;
  }
  expect_tasks_work(*ranks);
}

INSTANTIATE_TEST_SUITE_P(Sizes, TaskFailures, ::testing::Values(1, 2, 3, 5, 8), size_name);

TEST(Tasks, RunOneAtATime) {
  auto const ranks = detail::make_task_team(2);
  {
    detail::task_run open(*ranks);
    EXPECT_THROW(detail::task_run another(*ranks), argument_error);
  }
  expect_tasks_work(*ranks);
  EXPECT_THROW(ranks->run([](member&) {}), argument_error);
  EXPECT_THROW((void)ranks->join(0), argument_error);
  EXPECT_THROW((void)detail::make_task_team(0), argument_error);
}

/// Red if the destructor does not give up what is under way: operations would be kept for a run that never ends.
TEST(Tasks, OfARunThatIsLeftAreGivenUp) {
  auto const ranks = detail::make_task_team(3);
  struct context {
    std::vector<int> array = std::vector<int>(5000);
    std::shared_ptr<int> kept = std::make_shared<int>(0);
    request held = {};
  } given;
  {
    detail::task_run left(*ranks);
    bool const done = left.start(
        1,
        [](void* erased, member& me) {
          auto& mine = *static_cast<context*>(erased);
          mine.held = start_allreduce(me, mine.array, [kept = mine.kept](int a, int b) { return a + b + *kept; });
        },
        &given);
    EXPECT_FALSE(done);
    EXPECT_EQ(given.kept.use_count(), 2);
  }
  EXPECT_EQ(given.kept.use_count(), 1);
  EXPECT_THROW(given.held.test(), aborted);
  expect_tasks_work(*ranks);
}

TEST(Tasks, AreAbortedFromOutside) {
  auto const ranks = detail::make_task_team(4);
  std::vector<int> array(4);
  auto const thrown = outcome_of([&] {
    serially(*ranks, [&](member& me) {
      if (me.rank() == 2) ranks->abort("enough");
      return alone(start_allreduce(me, std::span(&array[me.rank()], 1)));
    });
  });
  EXPECT_EQ(thrown.type, type_name<aborted>());
  EXPECT_NE(thrown.message.find("enough"), std::string::npos) << thrown.message;
  expect_tasks_work(*ranks);
}

}  // namespace
}  // namespace coset::team_test
