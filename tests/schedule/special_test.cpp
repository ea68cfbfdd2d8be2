// SPDX-License-Identifier: Apache-2.0
// Whole-vector and exchange algorithms: right for every number of ranks, at exactly the published cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "planning/schedule/algorithms/bruck_ho.hpp"
#include "planning/schedule/algorithms/dissemination.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/registry/named_special.hpp"
#include "schedule/effort.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

rank_t const most_ranks = by_effort<rank_t>(32, 64, 64), many_ranks = by_effort<rank_t>(64, 128, 128);

std::uint32_t floor_log(rank_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks)) - 1; }

TEST(Special, EveryRankEndsWithEveryContribution) {
  std::vector<std::string> names{"binomial", "binomial(radix=5)", "pairwise_exchange", "butterfly", "elimination_3_2"};
  for (char n = '1'; n <= '8'; ++n)
    for (std::string const name : {"dissemination", "bruck_ho", "adapted_dissemination"})
      names.push_back(name + "(n=" + n + ")");
  int checked = 0;
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (auto const& name : names) {
      auto const named = algorithm::parse(name);
      if (named.name == "adapted_dissemination" && ranks > 1 && !adapt(ranks, named.number("n"))) continue;
      EXPECT_NO_THROW(validate(make(named, ranks))) << name << " on " << ranks << " ranks";
      ++checked;
    }
  EXPECT_GT(checked, static_cast<int>(most_ranks) * 28);
}

TEST(Special, ServesTheVerbsThatItNames) {
  for (named_algorithm const& row : special_algorithms())
    for (rank_t ranks = 1; ranks <= 24; ++ranks) {
      algorithm named{row.name, {}};
      if (row.name == "adapted_dissemination") named.parameters["n"] = "4";
      for (parameter const& p : row.parameters)
        if (p.name == "nodes")
          named.parameters["nodes"] = ranks < 3 ? std::to_string(ranks) : "2+" + std::to_string(ranks - 2);
      for (verb const what : row.verbs)
        EXPECT_NO_THROW(validate(make(named, ranks, what, ranks / 2)))
            << named.text() << ' ' << name_of(what) << ' ' << ranks;
    }
}

TEST(Binomial, KeepsRankOrderAndBitsForEveryRootAndCostsTheLogarithm) {
  for (rank_t ranks = 1; ranks <= 33; ++ranks)
    for (rank_t root = 0; root < ranks; ++root)
      for (rank_t const radix : {2u, 3u, 4u}) {
        std::string const name = "binomial(radix=" + std::to_string(radix) + ")";
        auto const down = validate(schedule_of(name, ranks, verb::reduce, root));
        EXPECT_TRUE(down.ordered) << name << ranks << " root " << root;
        EXPECT_EQ(down.steps, ceil_log(ranks, radix));
        EXPECT_LE(down.sent_max, fraction(1));
        EXPECT_EQ(validate(schedule_of(name, ranks, verb::broadcast, root)).steps, ceil_log(ranks, radix));
      }
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks) {
    auto const both = validate(schedule_of("binomial", ranks));
    EXPECT_EQ(both.steps, 2 * ceil_log(ranks));
    EXPECT_TRUE(both.ordered && both.rank_uniform);
  }
}

TEST(PairwiseExchange, TakesTwoRoundsMoreThanAPowerOfTwo) {
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks) {
    auto const found = validate(schedule_of("pairwise_exchange", ranks));
    std::uint32_t const doubling = floor_log(ranks), extra = std::has_single_bit(ranks) ? 0 : 1;
    EXPECT_EQ(found.steps, doubling + 2 * extra) << ranks;
    EXPECT_EQ(found.received_max, fraction(doubling + extra)) << ranks;
    EXPECT_TRUE(found.rank_uniform) << ranks;
  }
}

TEST(Butterfly, TakesTheLogarithmAndIsExactForPowersOfTwoOnly) {
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks) {
    auto const made = schedule_of("butterfly", ranks);
    EXPECT_EQ(validate(made).steps, ceil_log(ranks)) << ranks;
    EXPECT_EQ(made.idempotent_only, !std::has_single_bit(ranks)) << ranks;
  }
}

TEST(Dissemination, IsExactWhereTheLastDistanceDividesTheRanks) {
  for (rank_t ranks = 2; ranks <= most_ranks; ++ranks)
    for (rank_t n = 1; n <= 8; ++n) {
      auto const made = schedule_of("dissemination(n=" + std::to_string(n) + ")", ranks);
      EXPECT_EQ(validate(made).steps, ceil_log(ranks, n + 1));
      auto exact = made;
      exact.idempotent_only = false;
      if (made.idempotent_only) {
        EXPECT_THROW(validate(exact), schedule_error) << ranks << " ranks would do exactly with n = " << n;
      }
    }
}

// The ranks from 2 to 128 that adapted dissemination cannot serve.
std::set<rank_t> not_adaptable(rank_t n) {
  std::set<rank_t> found;
  for (rank_t ranks = 2; ranks <= 128; ++ranks)
    if (!adapt(ranks, n)) found.insert(ranks);
  return found;
}

std::set<rank_t> ranges(std::vector<std::pair<rank_t, rank_t>> const& list) {
  std::set<rank_t> found;
  for (auto const& [first, last] : list)
    for (rank_t r = first; r <= last; ++r) found.insert(r);
  return found;
}

TEST(AdaptedDissemination, ExistsForTheTabulatedRanks) {
  EXPECT_EQ(not_adaptable(1), ranges({{13, 13}, {21, 21}, {25, 27},  {29, 29},   {37, 37},   {41, 43},  {45, 45},
                                      {49, 55}, {57, 59}, {61, 61},  {69, 69},   {73, 75},   {77, 77},  {81, 87},
                                      {89, 91}, {93, 93}, {97, 111}, {113, 119}, {121, 123}, {125, 125}}));
  EXPECT_EQ(not_adaptable(2), ranges({{40, 41},
                                      {64, 65},
                                      {67, 68},
                                      {73, 74},
                                      {76, 77},
                                      {91, 92},
                                      {94, 95},
                                      {100, 101},
                                      {103, 104},
                                      {112, 113},
                                      {115, 116},
                                      {118, 125},
                                      {127, 128}}));
  EXPECT_EQ(not_adaptable(3), ranges({{85, 87}, {89, 91}, {101, 103}, {105, 107}}));
  for (rank_t n = 4; n <= 8; ++n) EXPECT_TRUE(not_adaptable(n).empty()) << n;
}

TEST(AdaptedDissemination, IsExactInAsManyRoundsAsThePlainForm) {
  for (rank_t ranks = 2; ranks <= many_ranks; ++ranks)
    for (rank_t n = 1; n <= 8; ++n) {
      if (!adapt(ranks, n)) continue;
      auto const found = validate(adapted_dissemination(ranks, n));
      EXPECT_EQ(found.steps, ceil_log(ranks, n + 1)) << ranks << " n " << n;
      EXPECT_LE(found.fan_in, n);
    }
  EXPECT_THROW(adapted_dissemination(13, 1), schedule_error);
}

TEST(BruckHo, CostsWhatItsDigitsSay) {
  for (rank_t ranks = 2; ranks <= many_ranks; ++ranks)
    for (rank_t n = 1; n <= 8; ++n) {
      rank_t leading = ranks - 1, rounds = 1;
      for (; leading > n; leading /= n + 1) ++rounds;
      auto const found = validate(bruck_ho(ranks, n));
      EXPECT_EQ(found.steps, ceil_log(ranks, n + 1));
      EXPECT_EQ(found.received_max, fraction(leading + n * (rounds - 1))) << ranks << " n " << n;
      EXPECT_EQ(found.combined_max, fraction(rounds == 1 ? leading : leading + (rounds - 2) * (n + 1) + n))
          << ranks << " n " << n;
    }
}

TEST(Special, CyclicOrderBecomesRankOrder) {
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (rank_t n = 1; n <= 8; ++n) {
      std::string const ports = "(ordered=1,n=" + std::to_string(n) + ")";
      auto const plain = validate(schedule_of("bruck_ho(n=" + std::to_string(n) + ")", ranks));
      auto const pairs = validate(schedule_of("bruck_ho" + ports, ranks));
      EXPECT_TRUE(pairs.ordered) << ranks << ports;
      EXPECT_EQ(pairs.steps, plain.steps) << ranks << ports;
      if (ranks > 1 && adapt(ranks, n)) {
        EXPECT_TRUE(validate(schedule_of("adapted_dissemination" + ports, ranks)).ordered) << ranks << ports;
      }
      if (!dissemination(ranks, n).idempotent_only) {
        EXPECT_TRUE(validate(schedule_of("dissemination" + ports, ranks)).ordered) << ranks << ports;
      }
    }
}

TEST(Elimination32, NeedsNoPreStepAndBoundsVolumeAndWork) {
  for (rank_t ranks = 1; ranks <= 2 * many_ranks; ++ranks) {
    auto const found = validate(schedule_of("elimination_3_2", ranks));
    bool const cheap = std::has_single_bit(ranks) || ranks <= 3 * std::bit_floor(ranks) / 2;
    EXPECT_EQ(found.steps, 2 * ceil_log(ranks) + (cheap ? 0 : 2)) << ranks;
    EXPECT_LE(found.sent_max, fraction(3)) << ranks;
    EXPECT_LE(found.combined_max, fraction(3, 2)) << ranks;
    EXPECT_LE(found.fan_in, 1u) << ranks;
    EXPECT_TRUE(found.rank_uniform) << ranks;
  }
}

TEST(Special, BadParametersSayWhatWouldDo) {
  auto const message = [](std::string_view text, rank_t ranks) -> std::string {
    try {
      schedule_of(text, ranks);
    } catch (schedule_error const& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_NE(message("adapted_dissemination", 13).find("bruck_ho"), std::string::npos);
  EXPECT_NE(message("binomial(radix=1)", 4).find("at least 2"), std::string::npos);
  EXPECT_NE(message("dissemination(ordered=1)", 7).find("bruck_ho"), std::string::npos);
  EXPECT_NE(message("bruck_ho(n=0)", 4).find("at least 1"), std::string::npos);
}

// End et al., Table I: n = 2, P = 9.
TEST(EndTableI, NineRanksWithTwoPorts) {
  auto const made = schedule_of("dissemination(n=2)", 9);
  EXPECT_FALSE(made.idempotent_only);
  EXPECT_EQ(read_from(made, 0, 0), (std::set<rank_t>{0, 8, 7}));
  EXPECT_EQ(read_from(made, 1, 0), (std::set<rank_t>{0, 6, 3}));
}

// End et al., Table I: P = 8 counts x0 twice, adapted it has rank 2 send the fold of x2 and x1 only.
TEST(EndTableI, EightRanksWithTwoPortsPlainAndAdapted) {
  auto const plain = schedule_of("dissemination(n=2)", 8);
  EXPECT_TRUE(plain.idempotent_only);
  EXPECT_EQ(read_from(plain, 1, 0), (std::set<rank_t>{0, 5, 2}));

  auto const adapted = schedule_of("adapted_dissemination(n=2)", 8);
  EXPECT_EQ(read_from(adapted, 1, 0), (std::set<rank_t>{0, 5, 2}));
  assignment const& last = adapted.steps[1].front();
  ASSERT_EQ(last.rank, 0u);
  source const prefix = adapted.from(last).front();
  ASSERT_EQ(prefix.rank, 2u);
  for (assignment const& a : adapted.steps[0]) {
    if (a.rank != 2 || a.slot != prefix.slot) continue;
    std::vector<source> const expected{{1, 0}, {2, 0}};
    EXPECT_TRUE(std::ranges::equal(adapted.from(a), expected));
  }
}

// End et al., Bruck and Ho's algorithm: P = 8, n = 2, 7 = (21) in base 3.
TEST(EndBruckHo, EightRanksWithTwoPorts) {
  auto const made = schedule_of("bruck_ho(n=2)", 8);
  EXPECT_EQ(read_from(made, 0, 0), (std::set<rank_t>{0, 1, 2}));
  EXPECT_EQ(read_from(made, 1, 0), (std::set<rank_t>{0, 3, 5}));
}

TEST(Ports, MoreThanPeersChangeNothing) {
  for (rank_t ranks = 1; ranks <= 9; ++ranks)
    for (std::string const name : {"dissemination", "bruck_ho", "adapted_dissemination"}) {
      auto const as_many = validate(schedule_of(name + "(n=8)", ranks));
      auto const most = validate(schedule_of(name + "(n=4294967295)", ranks));
      EXPECT_EQ(most.steps, as_many.steps) << name << ranks;
      EXPECT_EQ(most.fan_in, as_many.fan_in) << name << ranks;
    }
}

}  // namespace
}  // namespace coset::schedule::testing
