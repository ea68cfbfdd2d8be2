// SPDX-License-Identifier: Apache-2.0
// What the summary says of traces whose story is known.
#include <chrono>
#include <string>

#include "command/trace/read.hpp"
#include "command/trace/summary.hpp"
#include "trace/recording.hpp"

namespace coset::trace_test {
namespace {

using cli::summary_of;
using trace::event;
using trace::kind;

void expect_says(std::string const& text, std::vector<std::string> const& words) {
  for (auto const& each : words) EXPECT_NE(text.find(each), std::string::npos) << each << "\n" << text;
}

TEST(Summary, NamesTheRankThatIsAlwaysLate) {
  constexpr rank_t late = 1;
  constexpr int calls = 20;
  std::atomic<int> come = 0;
  auto const log = recorded(2, [&](team& threads) {
    threads.run([&](member& me) {
      for (int k = 1; k <= calls; ++k) {
        if (me.rank() == late) {
          while (come.load() < k) std::this_thread::yield();  // the other one is about to call
          auto const begin = std::chrono::steady_clock::now();
          while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2)) std::this_thread::yield();
        } else {
          ++come;
        }
        EXPECT_EQ(allreduce(me, k), 2 * k);
      }
    });
  });
  expect_says(summary_of(log), {"late: rank 1 came last to ", " of 20 operations", "most waited for: rank 1,",
                                "longest wait: rank 0, ", "wait for rank 1 to enter"});
}

/// Two ranks of two processes, times in ns.
trace::log known(std::uint32_t process) {
  trace::log log{
      process, 2, "here", 1000 * (1 + process), {}, {{7, {"allreduce of 1000 float (plus)", "direct, staged"}}}, {}};
  trace::rank_log rank{process, 1, 0, process, 2, process == 1 ? 3u : 0u, {}, {}};
  rank.moved[4] = 4096;
  auto const add = [&](kind what, std::uint64_t begin, std::uint64_t end, rank_t peer = event::nobody) {
    event e{};
    e.begin = begin;
    e.end = end;
    e.of.tag = 42;
    e.of.number = 5;
    e.of.plan = 7;
    e.peer = peer;
    e.signal = 2;
    e.step = 1;
    e.joint = 1;
    e.what = what;
    rank.events.push_back(e);
  };
  add(kind::fold, 100, 300);
  add(kind::wait, 300, 800, 1 - process);
  add(kind::operation, 0, 1000);
  log.ranks.push_back(rank);
  return log;
}

TEST(Summary, HasSharesOfTimeAndWhatMoved) {
  expect_says(summary_of(known(1)),
              {"1 µs        0    50    20     0        0     30\n", "moved between ranks: by messages 4 KiB",
               "dropped: the oldest events, 3 of rank 1"});
}

TEST(Merging, PutsProcessesInOrderOnOneClock) {
  auto const both = cli::merged({known(1), known(0)});
  ASSERT_EQ(both.ranks.size(), 2u);
  EXPECT_EQ(both.ranks[0].number, 0u);
  EXPECT_EQ(both.ranks[1].number, 1u);
  EXPECT_EQ(both.begin, 1000);
  EXPECT_EQ(both.ranks[0].events[2].begin, 0u);
  EXPECT_EQ(both.ranks[1].events[2].begin, 1000u);  // its process began later
  expect_says(summary_of(both), {"late: rank 1 of process 1 came last to 1 of 1 operations, 1 µs after", "process "});
  EXPECT_THROW(cli::merged({known(1), known(1)}), error);
}

/// The processes have made other teams of their own before: their numbers of the joint one differ.
TEST(Merging, FindsTeamsByTheNameThatProcessesHaveAgreedOn) {
  auto const merged = [](std::uint64_t other_name) {
    std::vector<trace::log> logs{known(0), known(1)};
    for (std::uint32_t p = 0; p < 2; ++p) {
      logs[p].ranks[0].root_team = 1 + p;
      for (event& e : logs[p].ranks[0].events) e.team = (3 + p) & 0x7fff;
      logs[p].joint_teams[{p, static_cast<std::uint16_t>(3 + p)}] = p == 0 ? 1u << 20 : other_name;
      logs[p] = cli::trace_in(json_of(logs[p]));
    }
    return summary_of(cli::merged(logs));
  };
  expect_says(merged(1u << 20), {"came last to 1 of 1 operations"});
  EXPECT_EQ(merged(1u << 21).find("came last"), std::string::npos);
}

TEST(Summary, OfAPartNamesTheRankThatIsLate) {
  std::atomic<int> come = 0;
  auto const log = recorded(4, [&](team& threads) {
    threads.run([&](member& me) {
      member part = me.split(me.rank() / 2);
      for (int k = 1; k <= 20; ++k) {
        if (me.rank() == 3) {
          while (come.load() < k) std::this_thread::yield();
          auto const begin = std::chrono::steady_clock::now();
          while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2)) std::this_thread::yield();
        } else if (me.rank() == 2) {
          ++come;
        }
        EXPECT_GT(allreduce(part, k), 0);
      }
    });
  });
  expect_says(summary_of(log), {"late: rank 3 came last to ", "most waited for: rank 3,"});
}

TEST(Summary, OfOneRankComparesItWithNobody) {
  auto const log = recorded(1, [](team& threads) { threads.run([](member& me) { EXPECT_EQ(allreduce(me, 1), 1); }); });
  std::string const text = summary_of(log);
  EXPECT_EQ(text.find("\n;"), std::string::npos) << text;
  EXPECT_EQ(text.find("late"), std::string::npos) << text;
}

TEST(Summary, OfNothingSaysSo) { EXPECT_EQ(summary_of({}), "no rank has done anything\n"); }

}  // namespace
}  // namespace coset::trace_test
