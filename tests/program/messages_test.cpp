// SPDX-License-Identifier: Apache-2.0
// What is brought by messages and what is combined, of schedules made by hand: two hosts of two ranks, 0 and 2 are the
// proxies. Unless said otherwise it is the part of the first host, to which rank 2 stands for all of the other.
#include <algorithm>

#include <gtest/gtest.h>

#include "calls.hpp"
#include "planning/program/offloads.hpp"

namespace coset::program::testing {
namespace {

using schedule::assignment;
using schedule::source;

distribution two_hosts() {
  distribution d{{0, 2, 4}, {{0, 1}, {2, 1}}};
  d.combiners = combiners_of(d, 2);
  return d;
}

/// Who folds what into which slot.
struct fold {
  rank_t rank;
  schedule::slot_t slot;
  std::vector<source> from;
  friend bool operator==(fold const&, fold const&) = default;
};
using step = std::vector<fold>;

schedule::schedule made_of(std::vector<step> const& steps) {
  schedule::schedule s = nothing_to_do(4);
  for (step const& folds : steps) {
    auto& made = s.steps.emplace_back();
    for (fold const& f : folds) {
      made.push_back(
          {f.rank, 0, f.slot, static_cast<std::uint32_t>(s.sources.size()), static_cast<std::uint32_t>(f.from.size())});
      s.sources.insert(s.sources.end(), f.from.begin(), f.from.end());
    }
  }
  return s;
}

std::vector<step> steps_of(schedule::schedule const& s) {
  std::vector<step> all;
  for (auto const& made : s.steps) {
    step& folds = all.emplace_back();
    for (assignment const& a : made) folds.push_back({a.rank, a.slot, {s.from(a).begin(), s.from(a).end()}});
  }
  return all;
}

split_schedule split(std::vector<step> const& steps, bool library = false, std::size_t host = 0) {
  distribution d = two_hosts();
  d.own = host;
  return with_messages(made_of(steps), d, library);
}

TEST(Messages, BringEachValueOnceToEachHost) {
  // Both ranks of the first host want the input of rank 3, in one step and in the next.
  std::vector<step> const steps{{{0, 1, {{0, 0}, {3, 0}}}, {1, 1, {{1, 0}, {3, 0}}}}, {{1, 2, {{3, 0}, {1, 1}}}}};
  auto const made = split(steps);
  EXPECT_EQ(steps_of(made.own),
            (std::vector<step>{
                {{0, 2, {{2, 0}}}}, {{0, 1, {{0, 0}, {0, 2}}}, {1, 1, {{1, 0}, {0, 2}}}}, {{1, 2, {{0, 2}, {1, 1}}}}}));
  EXPECT_EQ(made.has_messages, (std::vector<char>{true, false, false}));
  ASSERT_EQ(made.received[0].size(), 1u);
  EXPECT_EQ(made.received[0][0].sender, 2u);
  EXPECT_EQ(made.received[0][0].rank, 3u);

  auto const other = split(steps, false, 1);
  EXPECT_EQ(steps_of(other.own), (std::vector<step>{{}}));
  ASSERT_EQ(other.sent[0].size(), 1u);
  EXPECT_EQ(other.sent[0][0].sender, 0u) << "its proxy, as it counts its ranks";
  EXPECT_EQ(other.sent[0][0].receiver, 0u);
  EXPECT_EQ(other.sent[0][0].rank, 1u);
}

/// A proxy that copies what it wants has brought it for the others.
TEST(Messages, AreWhatCarriersCopyAnyway) {
  auto const made = split({{{0, 1, {{2, 0}}}}, {{1, 1, {{1, 0}, {2, 0}}}}});
  EXPECT_EQ(steps_of(made.own), (std::vector<step>{{{0, 1, {{2, 0}}}}, {{1, 1, {{1, 0}, {0, 1}}}}}));
  EXPECT_EQ(made.has_messages, (std::vector<char>{true, false}));
}

TEST(Messages, AreNoneWithinAHost) {
  std::vector<step> const steps{{{0, 1, {{1, 0}}}, {3, 1, {{2, 0}, {3, 0}}}}, {{2, 1, {{3, 1}}}}};
  auto const made = split(steps);
  EXPECT_EQ(steps_of(made.own), (std::vector<step>{{{0, 1, {{1, 0}}}}}));
  EXPECT_EQ(steps_of(split(steps, false, 1).own), (std::vector<step>{{{1, 1, {{0, 0}, {1, 0}}}}, {{0, 1, {{1, 1}}}}}));
  EXPECT_EQ(made.has_messages, (std::vector<char>{false}));
}

fold const here{0, 1, {{0, 0}, {2, 0}}}, there{2, 1, {{0, 0}, {2, 0}}};

TEST(Offloads, TakeWhatIsOfAllHostsOutOfItsStep) {
  fold const local{1, 1, {{0, 0}, {1, 0}}};
  auto const made = split({{here, local, there}}, true);
  EXPECT_EQ(steps_of(made.own), (std::vector<step>{{{0, 1, {{0, 0}}}}, {local}}));
  ASSERT_EQ(made.slices[0].size(), 1u);
  EXPECT_EQ(made.slices[0][0].size(), 1u);
  EXPECT_TRUE(made.slices[1].empty());
  EXPECT_EQ(made.has_messages, (std::vector<char>{false, false}));
}

/// Of other ranks than those it is another slice, which somebody else may combine.
TEST(Offloads, AreOneSliceForEachSetOfRanks) {
  fold const next_here{1, 1, {{1, 0}, {3, 0}}}, next_there{3, 1, {{1, 0}, {3, 0}}};
  EXPECT_EQ(split({{here, next_here, there, next_there}}, true).slices[0].size(), 2u);
}

TEST(Offloads, AreOfOneValueOfEachHostInTheirOrder) {
  auto const is_refused = [](std::vector<step> const& steps) {
    try {
      require_offloads(made_of(steps), two_hosts());
    } catch (schedule_error const& e) {
      EXPECT_NE(std::string(e.what()).find("needs a step in which"), std::string::npos) << e.what();
      return true;
    }
    return false;
  };
  EXPECT_FALSE(is_refused({{here, there}}));
  EXPECT_TRUE(is_refused({{here}})) << "the other host makes nothing of it";
  EXPECT_TRUE(is_refused({{here, {1, 1, {{0, 0}, {2, 0}}}, there}})) << "two ranks of a host do";
  EXPECT_TRUE(is_refused({{{0, 1, {{2, 0}, {0, 0}}}, {2, 1, {{2, 0}, {0, 0}}}}})) << "in another order";
  EXPECT_TRUE(is_refused({{{0, 1, {{0, 0}, {2, 0}, {3, 0}}}, {2, 1, {{0, 0}, {2, 0}, {3, 0}}}}})) << "two of a host";
  EXPECT_TRUE(is_refused({{{0, 1, {{0, 0}}}, {2, 1, {{0, 0}}}}})) << "of one host only";
}

TEST(Offloads, AreNoMoreThanThereAreCombinersFor) {
  fold const next_here{1, 1, {{1, 0}, {3, 0}}}, next_there{3, 1, {{1, 0}, {3, 0}}};
  distribution one = two_hosts();
  one.combiners.pop_back();
  auto const s = made_of({{here, next_here, there, next_there}});
  EXPECT_NO_THROW(require_offloads(s, two_hosts()));
  EXPECT_THROW(require_offloads(s, one), schedule_error);
  one.combiners.clear();
  EXPECT_THROW(require_offloads(made_of({{here, there}}), one), schedule_error);
  EXPECT_THROW(require_offloads(made_of({{here, there}}), distribution{}), schedule_error);
}

/// Who is asked, by an empty message, before anything is combined: at once, but after what other messages bring.
std::size_t first_question(std::vector<step> const& steps) {
  auto const made = split(steps, true);
  auto const order = assign_locations(made, policy{}, {});
  std::size_t moves = 0;
  for (operation const& o : order.operations) {
    if (o.what == operation::kind::send && o.from.empty()) return moves;
    moves += o.what == operation::kind::move && !o.from.empty() && !o.to.empty();
    moves += o.what == operation::kind::receive;
  }
  return SIZE_MAX;
}

TEST(Offloads, AskAtOnceUnlessMessagesComeBefore) {
  // What all ranks copy in comes first; then a step of one fold.
  fold const local{1, 1, {{0, 0}, {1, 0}}}, brought{1, 1, {{1, 0}, {3, 0}}}, in_the_end{0, 2, {{0, 1}, {1, 1}}};
  std::size_t const at_once = first_question({{here, there}, {local}, {in_the_end}});
  EXPECT_EQ(first_question({{local}, {here, there}, {in_the_end}}), at_once);
  EXPECT_GT(first_question({{brought}, {here, there}, {in_the_end}}), at_once + 1);
}

std::uint32_t most_destinations(std::string const& algorithm, rank_t ranks, std::string const& storage) {
  std::uint32_t most = 0;
  compiled const c = *call_of(plan_of(algorithm, ranks), storage).code;
  for (program const& p : c.of)
    for (instruction const& i : p.code) most = std::max(most, i.destinations);
  return most;
}

/// Of a tree of eight ranks: all copies at once, or those of one's own children.
TEST(Copies, AreWrittenWhereThePolicySays) {
  EXPECT_EQ(most_destinations("binomial", 8, "staged"), 8u);
  EXPECT_EQ(most_destinations("binomial", 8, "push"), 4u);
  EXPECT_EQ(most_destinations("binomial", 8, "staged_pull"), 2u);
  EXPECT_EQ(most_destinations("direct", 4, "staged"), 4u);
}

/// What is only copied on is rounded where it is made.
TEST(Copies, AreNotOfPartialResults) {
  policy wide = storage_of("staged", arrays::apart);
  wide.widens = true;
  EXPECT_FALSE(call_of(plan_of("direct", 4), wide).code->wide);
  EXPECT_TRUE(call_of(plan_of("ring", 4), wide).code->wide);
}

/// Shared outputs get each result once, whoever it is for.
TEST(SharedOutputs, AreWrittenOnce) {
  for (std::string const algorithm : {"direct", "ring", "generalized"}) {
    rank_t const p = 4;
    auto const c =
        call_of(plan_of(algorithm, p), storage_of("staged", arrays::apart), arrays::shared, std::vector<rank_t>(p, 0));
    std::size_t blocks_written = 0;
    for (program const& of : c.code->of) {
      for (instruction const& i : of.code) {
        for (std::uint32_t k = i.sources; k < i.sources + i.destinations; ++k)
          blocks_written += of.operands[i.operands + k].base[0] / p == row_output ? i.block_end - i.block : 0;
      }
    }
    EXPECT_EQ(blocks_written, c.code->blocks.size()) << algorithm;
  }
}

/// What is under way may be read at any time, and what arrives written: neither is a caller's array.
TEST(Messages, TouchStagingOnly) {
  for (std::string const& name : policy_names()) {
    if (name.ends_with("+library")) continue;
    compiled const c =
        compile(schedule::make(schedule::algorithm::parse("direct"), 4), parse_policy(name), {}, two_hosts());
    for (program const& p : c.of) {
      for (instruction const& i : p.code) {
        if (i.what != action::send && i.what != action::receive) continue;
        for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k)
          EXPECT_GE(p.operands[i.operands + k].base[0] / 2, std::uint32_t{row_staging}) << name;
      }
    }
  }
}

}  // namespace
}  // namespace coset::program::testing
