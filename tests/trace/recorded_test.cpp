// SPDX-License-Identifier: Apache-2.0
// What ranks record is what their schedules say; files have all of it, in a form that viewers take.
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>

#include "command/trace/read.hpp"
#include "command/trace/summary.hpp"
#include "planning/schedule/core/schedule.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "team/team_state.hpp"
#include "trace/recording.hpp"

namespace coset::trace_test {
namespace {

using trace::event;
using trace::kind;

// First, as nothing can be turned off again.
TEST(Recording, IsOffUnlessWanted) {
  if (trace::is_on()) GTEST_SKIP() << "COSET_TRACE is set";
  team threads(options_for(2));
  threads.run([](member& me) {
    EXPECT_EQ(me.state().memory.recorded, nullptr);
    std::vector<int> items(100, 1);
    allreduce(me, items);
  });
  EXPECT_TRUE(trace::collect().ranks.empty());
}

/// What all ranks read of each other in a schedule, in parts of the vector.
double volume_of(schedule::schedule const& s) {
  double all = 0;
  for (auto const& step : s.steps) {
    std::set<std::tuple<rank_t, rank_t, schedule::slot_t, schedule::block_t>> read;
    for (schedule::assignment const& a : step) {
      for (schedule::source const& from : s.from(a)) {
        if (from.rank != a.rank && read.insert({a.rank, from.rank, from.slot, a.block}).second)
          all += static_cast<double>(s.blocks[a.block].size.numerator()) /
                 static_cast<double>(s.blocks[a.block].size.denominator());
      }
    }
  }
  return all;
}

class Volume : public ::testing::TestWithParam<std::tuple<std::string, rank_t>> {};

TEST_P(Volume, OfFoldsAndCopiesIsThatOfTheSchedule) {
  std::string const& name = std::get<0>(GetParam());
  rank_t const ranks = std::get<1>(GetParam());
  // Blocks of whole lines, whatever the algorithm divides by.
  std::size_t const count = 16 * 2520;
  auto const s = schedule::make(schedule::algorithm::parse(name), ranks);
  std::vector<std::string> const storages{"staged", "pull", "zero_copy"};
  auto const log = recorded(ranks, [&](team& threads) {
    std::vector<plan<int>> plans;
    for (auto const& storage : storages)
      plans.push_back(make_plan<int>(threads, count, plus{}, plan_named(name + "/" + storage)));
    threads.run([&](member& me) {
      std::vector<int> in(count, 1), out(count);
      for (auto const& each : plans) each.execute(me, in, out);
    });
  });
  ASSERT_EQ(log.ranks.size(), ranks);
  std::vector<std::uint64_t> moved(storages.size()), operations(storages.size());
  std::uint64_t by_level = 0;
  for (trace::rank_log const& rank : log.ranks) {
    for (event const& e : rank.events) {
      ASSERT_LE(e.of.number, storages.size());
      operations[e.of.number - 1] += e.what == kind::operation;
      moved[e.of.number - 1] += e.data.moved;
      EXPECT_LE(e.step, s.steps.size());
    }
    by_level = std::accumulate(rank.moved.begin(), rank.moved.end(), by_level);
  }
  double const expected = std::round(volume_of(s) * count * sizeof(int));
  for (std::size_t k = 0; k < storages.size(); ++k) {
    EXPECT_EQ(operations[k], ranks);
    EXPECT_EQ(static_cast<double>(moved[k]), expected) << name << "/" << storages[k];
  }
  EXPECT_EQ(by_level, std::accumulate(moved.begin(), moved.end(), std::uint64_t{0}));
}

INSTANTIATE_TEST_SUITE_P(Some, Volume,
                         ::testing::Combine(::testing::Values("direct", "generalized", "generalized(radix=4)", "ring"),
                                            ::testing::Values(2, 3, 5)),
                         [](auto const& each) {
                           std::string text = std::get<0>(each.param);
                           std::ranges::replace_if(
                               text, [](char c) { return !std::isalnum(c); }, '_');
                           return text + "_P" + std::to_string(std::get<1>(each.param));
                         });

/// Blocking calls, several started at once, and those of a part.
trace::log of_all_kinds() {
  return recorded(3, [](team& threads) {
    threads.run([](member& me) {
      std::vector<float> a(3000, 1), b(500, 2), c(70, 3);
      for (int k = 0; k < 5; ++k) {
        request first = start_allreduce(me, a), second = start_allreduce(me, b);
        allreduce(me, c);
        first.wait();
        second.wait();
        reduce(me, c, c, 1);
      }
      member part = me.split(me.rank() < 2 ? 0 : 1, 0);
      allreduce(part, c);
      barrier(me);
    });
  });
}

/// A number of ns without a rest.
std::int64_t nanoseconds(nlohmann::json const& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

/// Red if pieces of any length are told as what a rank copies out of its own memory.
TEST(Recording, OfPiecesOfAnyLengthSaysWhoseTheyWere) {
  constexpr rank_t ranks = 3;
  constexpr std::size_t piece = 1000;
  auto const log = recorded(ranks, [&](team& threads) {
    threads.run([&](member& me) {
      std::vector<int> const in(ranks * piece, 1);
      std::vector<int> out(in.size());
      std::vector<std::size_t> const counts(ranks, piece);
      all_to_all(me, in, out, counts, counts);
    });
  });
  for (trace::rank_log const& rank : log.ranks) {
    std::vector<std::size_t> from(ranks);
    for (event const& e : rank.events)
      if (e.what == kind::copy && e.data.moved >= piece * sizeof(int)) from[e.peer] += e.data.moved;
    for (rank_t r = 0; r < ranks; ++r) EXPECT_EQ(from[r], r == rank.number ? 0 : piece * sizeof(int)) << r;
  }
}

TEST(File, HasWellFormedEventsThatNestOnTheirTracks) {
  auto const file = nlohmann::json::parse(json_of(of_all_kinds()));
  std::map<std::pair<int, int>, std::vector<std::int64_t>> open;  // ends of what is open, by track
  std::map<std::pair<int, int>, std::int64_t> latest;
  std::set<std::string> kinds;
  std::map<int, int> arrows;
  for (auto const& e : file.at("traceEvents")) {
    std::string const shape = e.at("ph");
    std::pair<int, int> const track{e.at("pid"), e.value("tid", -1)};
    ASSERT_FALSE(e.at("name").get<std::string>().empty());
    if (shape == "s") ++arrows[e.at("id")];
    if (shape == "f") --arrows[e.at("id")];
    if (shape != "X" && shape != "i") continue;
    kinds.insert(e.at("cat"));
    for (char const* const each : {"operation", "schedule", "number", "team", "tag"})
      EXPECT_TRUE(e.at("args").contains(each)) << e;
    std::int64_t const begin = nanoseconds(e.at("ts"));
    EXPECT_GE(begin, latest[track]) << e;
    latest[track] = begin;
    if (shape == "i") continue;
    std::int64_t const end = begin + nanoseconds(e.at("dur"));
    auto& around = open[track];
    while (!around.empty() && around.back() <= begin) around.pop_back();
    if (!around.empty()) {
      EXPECT_LE(end, around.back()) << e;
    }
    around.push_back(end);
  }
  for (auto const& [id, rest] : arrows) EXPECT_EQ(rest, 0) << id;
  for (char const* const each : {"operation", "fold", "copy", "post"}) EXPECT_TRUE(kinds.contains(each)) << each;
}

/// All that is known of each event, in an order that does not depend on it having been in a file.
auto all_of(trace::rank_log const& rank, trace::log const& log) {
  using facts = std::array<std::uint64_t, 15>;
  std::vector<std::pair<facts, trace::plan_words>> all;
  for (event const& e : rank.events) {
    all.push_back({facts{e.begin, e.end, e.of.tag, e.of.number, e.data.bytes, e.data.moved, e.peer, e.signal, e.step,
                         e.sources, e.team, e.joint, e.of.failed, e.channel, static_cast<std::uint64_t>(e.what)},
                   log.plans.at(e.of.plan)});
  }
  std::ranges::sort(all);
  return all;
}

TEST(File, IsReadAsItWasWritten) {
  auto const log = of_all_kinds();
  auto const read = cli::trace_in(json_of(log));
  EXPECT_EQ(read.begin, log.begin);
  ASSERT_EQ(read.ranks.size(), log.ranks.size());
  for (std::size_t r = 0; r < log.ranks.size(); ++r) {
    auto const& here = log.ranks[r];
    auto const& there = read.ranks[r];
    EXPECT_EQ(std::tie(here.number, here.thread, here.size, here.dropped, here.moved),
              std::tie(there.number, there.thread, there.size, there.dropped, there.moved));
    EXPECT_TRUE(all_of(here, log) == all_of(there, read)) << "rank " << r;
  }
}

TEST(Recording, KeepsTheLatestEventsAndCountsTheOthers) {
  auto const calls = [](team& threads) {
    threads.run([](member& me) {
      for (int k = 0; k < 200; ++k) EXPECT_EQ(allreduce(me, k), 2 * k);
    });
  };
  auto const few = recorded(2, calls, 64), all = recorded(2, calls);
  for (rank_t r = 0; r < 2; ++r) {
    EXPECT_EQ(all.ranks[r].dropped, 0u);
    EXPECT_LE(few.ranks[r].events.size(), 64u);
    EXPECT_GT(few.ranks[r].events.size(), 32u);
    EXPECT_GE(few.ranks[r].events.size() + few.ranks[r].dropped, 400u);  // an operation and an entry of each call
    EXPECT_EQ(few.ranks[r].events.back().of.number, 200u);
  }
}

bool is_whole(event const& e) { return e.what == kind::operation && e.of.failed == 0; }

TEST(Recording, OfATeamThatFailedIsWhatHappenedUntilThen) {
  auto const log = recorded(2, [](team& threads) {
    EXPECT_THROW(threads.run([](member& me) {
      std::vector<int> items(1000, 1);
      allreduce(me, items);
      if (me.rank() == 1) throw std::runtime_error("no more");
      allreduce(me, items);
    }),
                 std::runtime_error);
    threads.run([](member& me) { barrier(me); });
  });
  for (auto const& rank : log.ranks) EXPECT_EQ(std::ranges::count_if(rank.events, is_whole), 2) << rank.number;
  EXPECT_NO_THROW(cli::trace_in(json_of(log)));
}

/// Events of rank 0 of the latest team.
std::vector<event> latest_of_rank_0() {
  auto const all = trace::collect();
  auto const latest = std::ranges::max(all.ranks, {}, &trace::rank_log::root_team).root_team;
  for (auto const& rank : all.ranks)
    if (rank.root_team == latest && rank.thread == 0) return rank.events;
  return {};
}

TEST(Recording, OfAWaitThatFailedSaysForWhom) {
  for (bool const starts : {false, true}) {
    auto const log = recorded(2, [&](team& threads) {
      EXPECT_THROW(threads.run([&](member& me) {
        std::vector<int> items(1000, 1);
        if (me.rank() == 1) {
          // The other one has entered, and waits.
          while (std::ranges::count(latest_of_rank_0(), kind::post, &event::what) == 0) std::this_thread::yield();
          throw std::runtime_error("no more");
        }
        starts ? start_allreduce(me, items).wait() : allreduce(me, items);
      }),
                   std::runtime_error);
    });
    auto const& events = log.ranks[0].events;
    ASSERT_GE(events.size(), 2u);
    event const &wait = events[events.size() - 2], &operation = events.back();
    EXPECT_EQ(std::tuple(wait.what, wait.peer, wait.signal, wait.of.failed), std::tuple(kind::wait, 1u, 1u, 1u));
    EXPECT_EQ(std::tuple(operation.what, operation.of.failed, operation.of.number),
              std::tuple(kind::operation, 1u, 1u));
    EXPECT_LE(operation.begin, wait.begin);
    auto const read = cli::trace_in(json_of(log));
    EXPECT_NE(cli::summary_of(read).find("failed: 1 operations; rank 0 waited longest, "), std::string::npos)
        << cli::summary_of(read);
  }
}

TEST(Recording, OfAPartHasPeersAsTheWholeNumbersThem) {
  auto const log = recorded(4, [](team& threads) {
    threads.run([](member& me) {
      member part = me.split(me.rank() / 2);
      std::vector<float> items(1000, 1);
      allreduce(part, items);
    });
  });
  for (auto const& rank : log.ranks) {
    for (event const& e : rank.events) {
      if (e.what == kind::post) {
        EXPECT_EQ(e.peer, rank.number);
      } else if (e.peer != event::nobody && e.of.plan == rank.events.back().of.plan) {
        EXPECT_EQ(e.peer, rank.number ^ 1) << trace::name_of(e, log);
      }
    }
  }
}

TEST(File, TellsMoreThanAThousandTeamsApart) {
  trace::log log{0, 2, "here", 0, {}, {{7, {"barrier", "direct"}}}, {}};
  // Once numbered 1000 · process + team.
  for (auto const& [process, team] : {std::pair(0u, 1001u), std::pair(1u, 1u)}) {
    trace::rank_log rank{process, team, 0, 0, 1, 0, {}, {}};
    rank.events.push_back(event{});
    rank.events.back().of.plan = 7;
    rank.events.back().team = team & 0x7fff;
    rank.events.back().of.number = 10 + process;
    log.ranks.push_back(rank);
  }
  auto const read = cli::trace_in(json_of(log));
  ASSERT_EQ(read.ranks.size(), 2u);
  for (std::uint32_t p = 0; p < 2; ++p) {
    ASSERT_EQ(read.ranks[p].events.size(), 1u);
    EXPECT_EQ(read.ranks[p].events[0].of.number, 10 + p);
  }
}

}  // namespace
}  // namespace coset::trace_test
