// SPDX-License-Identifier: Apache-2.0
// Ranks that wait for long: what is said of whom, how often, and when it becomes an error.
#include <atomic>
#include <chrono>
#include <functional>
#include <regex>
#include <sstream>
#include <thread>

#include "runtime/failure/ranks_in_words.hpp"
#include "support/hosts.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

using std::chrono::milliseconds;

std::string dumped(team const& of) {
  std::ostringstream text;
  dump(of, text);
  return text.str();
}

void await(std::function<bool()> const& what) {
  while (!what()) std::this_thread::yield();
}

bool has_said(detail::team_state& of) { return of.shared.arena.failure().stuck_told != 0; }
/// As if it had been said already, until all are where the test wants them.
void keep_silent(detail::team_state& of) { of.shared.arena.failure().stuck_told = 1; }
void speak(detail::team_state& of) { of.shared.arena.failure().stuck_told = 0; }
bool waits_in(detail::team_state& of, rank_t rank, std::uint32_t operation) {
  runtime::told_wait const& wait = of.shared.arena.own(rank).wait;
  return wait.since != 0 && wait.number == operation;
}
/// By its thread's own lines, whichever team it waits in.
bool tells_of_a_wait(team& of, rank_t rank) { return of.state().shared.arena.own(rank).wait.since != 0; }

int times(std::string const& what, std::string const& in) {
  std::regex const pattern(what);
  return static_cast<int>(std::distance(std::sregex_iterator(in.begin(), in.end(), pattern), {}));
}

void expect_all_in(std::string const& text, std::vector<std::string> const& patterns) {
  for (std::string const& each : patterns) EXPECT_EQ(times(each, text), 1) << each << " in:\n" << text;
}

/// What is said on standard error while a team runs.
std::string said(std::function<void()> const& body) {
  ::testing::internal::CaptureStderr();
  body();
  return ::testing::internal::GetCapturedStderr();
}

std::string name_of(waiting way) {
  constexpr char const* names[]{"automatic", "spin", "yield", "block"};
  return names[static_cast<std::size_t>(way)];
}

class LongWaits : public ::testing::TestWithParam<waiting> {
 protected:
  team ranks{options_for(3, GetParam())};
  detail::team_state& state = ranks.state();
  choice::wait_limits& limits = state.shared.patience.limits;

  void let_others_say_it_in(std::uint32_t operation) {
    await([&] { return waits_in(state, 0, operation) && waits_in(state, 1, operation); });
    speak(state);
    await([&] { return has_said(state); });
  }
};

TEST_P(LongWaits, NameTheRankThatHasNotCome) {
  limits.until_told = milliseconds(1);
  keep_silent(state);
  std::string const text = said([&] {
    ranks.run([&](member& me) {
      barrier(me);
      if (me.rank() == 2) let_others_say_it_in(2);
      std::vector<float> items(1000, 1.0f);
      allreduce(me, items);
      EXPECT_EQ(items[0], 3.0f);
    });
  });
  expect_all_in(text,
                {"stuck\\? rank [01] of 3 has waited 0\\..* s for rank [0-2] to .* operation 2, allreduce of 1000 "
                 "float \\(coset::plus\\), in place, planned as .*: step \\d+ of \\d+",
                 "not come to it: rank 2\n", "rank 2 is in no wait of coset's, and began last operation 1, barrier\n"});
}

TEST_P(LongWaits, AreNotMentionedWhereNobodyWantsToKnow) {
  limits.until_told = milliseconds(0);
  std::string const text = said([&] {
    ranks.run([&](member& me) {
      if (me.rank() == 2) await([&] { return tells_of_a_wait(ranks, 0) && tells_of_a_wait(ranks, 1); });
      barrier(me);
    });
  });
  EXPECT_EQ(text, "");
  EXPECT_FALSE(has_said(state));
}

TEST_P(LongWaits, AreMentionedOnce) {
  limits.until_told = milliseconds(1);
  std::string const text = said([&] {
    for (int k = 0; k < 3; ++k) {
      ranks.run([&](member& me) {
        if (me.rank() == 1)
          await([&] { return has_said(state) && tells_of_a_wait(ranks, 0) && tells_of_a_wait(ranks, 2); });
        barrier(me);
      });
    }
  });
  EXPECT_EQ(times("stuck\\?", text), 1) << text;
}

TEST_P(LongWaits, EndOnAllRanksWhenTheTimeIsOver) {
  limits = {milliseconds(0), milliseconds(20)};
  auto const all = outcomes(ranks, [&](member& me) {
    if (me.rank() == 1) await([&] { return state.shared.failed(); });
    (void)allreduce(me, 1);
  });
  expect_everybody_threw<timed_out>(all, {"not come to it: rank 1"});
  limits.longest = {};
  expect_works(ranks);
}

TEST_P(LongWaits, OfStartedOperationsNameTheRankThatDoesNotWait) {
  limits.until_told = milliseconds(1);
  keep_silent(state);
  std::atomic<bool> started = false;
  std::vector<double> items[3]{std::vector<double>(10'000), std::vector<double>(10'000), std::vector<double>(10'000)};
  std::string const text = said([&] {
    ranks.run([&](member& me) {
      auto& mine = items[me.rank()];
      if (me.rank() != 2) await([&] { return started.load(); });  // else its start might be its end
      auto under_way = start_allreduce(me, mine, mine, plus{});
      started = true;
      if (me.rank() == 2) let_others_say_it_in(1);
      under_way.wait();
    });
  });
  expect_all_in(text,
                {"stuck\\?", "rank 2 has started operation 1, allreduce of 10000 double .*, and does not wait\n"});
  EXPECT_EQ(times("not come to it", text), 0) << text;
}

INSTANTIATE_TEST_SUITE_P(Ways, LongWaits,
                         ::testing::Values(waiting::automatic, waiting::spin, waiting::yield, waiting::block),
                         [](auto const& each) { return name_of(each.param); });

TEST(Dump, TellsOfTeamsThatWereSplitOff) {
  team ranks(options_for(3));
  std::string text;
  ranks.run([&](member& me) {
    member part = me.split(me.rank() == 0 ? 0 : 1);
    if (me.rank() == 2) {
      await([&] { return tells_of_a_wait(ranks, 0) && tells_of_a_wait(ranks, 1); });
      text = dumped(ranks);
    }
    if (me.rank() != 0) barrier(part);
    barrier(me);
  });
  expect_all_in(text,
                {"a team of 3 ranks\n", "rank 0 has waited .* for rank [12] to begin operation \\d+, barrier",
                 "rank 1 has waited .* for its rank 1 to begin operation 1, barrier.*, in another team, of 2 ranks\n",
                 "rank 2 is in no wait of coset's"});
}

TEST(Dump, TellsOfRanksThatHaveNotComeOrHaveLeft) {
  auto const ranks = team::adopt(2);
  expect_all_in(dumped(*ranks), {"ranks 0, 1 have begun no operation yet\n"});
  std::string text;
  std::thread other([&] {
    auto me = ranks->join(1);
    barrier(*me);
  });
  {
    auto me = ranks->join(0);
    barrier(*me);
    other.join();
    text = dumped(*ranks);
  }
  expect_all_in(text, {"rank 0 is in no wait of coset's, and began last operation 1, barrier\n",
                       "rank 1 has left after operation 1, barrier\n"});
}

TEST(Dump, OfAThreadThatIsNoRankDisturbsNobody) {
  team ranks(options_for(3));
  std::atomic<bool> over = false;
  std::size_t lines = 0;
  std::thread other([&] {
    while (!over) lines += dumped(ranks).size();
  });
  for (int run = 0; run < 20; ++run) {
    ranks.run([&](member& me) {
      std::vector<int> items(2000, 1);
      for (int k = 0; k < 20; ++k) {
        auto under_way = start_allreduce(me, items, items, maximum{});
        barrier(me);
        under_way.wait();
      }
      member part = me.split(static_cast<int>(me.rank() % 2));
      barrier(part);
    });
  }
  over = true;
  other.join();
  EXPECT_GT(lines, 0u);
}

/// Ranks 0 and 1 on one host, 2 and 3 on the other.
class LongWaitsOfHosts : public ::testing::Test {
 protected:
  hosts all{{{2}, {2}}, true};

  void limit(choice::wait_limits const& to) {
    for (std::size_t p = 0; p < all.processes(); ++p) all.state(p).shared.patience.limits = to;
  }
};

TEST_F(LongWaitsOfHosts, NameTheMessagesThatAreMissing) {
  limit({milliseconds(1), {}});
  for (std::size_t host : {0, 1}) keep_silent(all.state(host));
  std::string const text = said([&] {
    all.run([&](member& me) {
      if (me.rank() == 3) {
        auto &here = all.state(1), &there = all.state(0);
        await([&] { return waits_in(there, 0, 1) && waits_in(there, 1, 1) && waits_in(here, 0, 1); });
        for (std::size_t host : {0, 1}) speak(all.state(host));
        await([&] { return has_said(here) && has_said(there); });
      }
      std::vector<int> items(10'000, 1);
      allreduce(me, items);
      EXPECT_EQ(items[0], 4);
    });
  });
  expect_all_in(text,
                {"not come to it: rank 3\n", "rank 0 has waited .* for a message of rank 2 in it: step \\d of \\d\n"});
  EXPECT_EQ(times("stuck\\?", text), 2) << text;
  EXPECT_EQ(times("ranks that share no memory with these: 2\n", text), 2) << text;
}

TEST_F(LongWaitsOfHosts, EndOnAllRanksWhenTheTimeIsOver) {
  limit({{}, milliseconds(20)});
  std::vector<outcome> each(4);
  all.run([&](member& me) {
    if (me.rank() == 3) await([&] { return all.state(1).shared.failed(); });
    each[me.rank()] = outcome_of([&] { barrier(me); });
  });
  expect_everybody_threw<timed_out>(each, {"operation 1, barrier"});
  limit({});
  for (auto const& left : all.run([](member& me) { barrier(me); })) EXPECT_EQ(left.message, "");
}

TEST(Ranks, AreNamedByTheirRanges) {
  EXPECT_EQ(runtime::ranks_in_words({3}), "rank 3");
  EXPECT_EQ(runtime::ranks_in_words({0, 1}), "ranks 0, 1");
  EXPECT_EQ(runtime::ranks_in_words({0, 1, 2, 3, 7, 9, 10, 11}), "ranks 0-3, 7, 9-11");
}

}  // namespace
}  // namespace coset::team_test
