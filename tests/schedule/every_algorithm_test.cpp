// SPDX-License-Identifier: Apache-2.0
// Every fold algorithm, every verb, numbers of ranks that differ, every radix to 8, every number of saved steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "effort.hpp"
#include "planning/schedule/core/rank_order.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/named_fold.hpp"

namespace coset::schedule {
namespace {

/// All to 16, primes, powers of two and their neighbours, and what has many factorings; all of them under long effort.
std::vector<rank_t> const& numbers_of_ranks() {
  static auto const all = [] {
    rank_t const largest = by_effort<rank_t>(16, 48, 160);
    std::vector<rank_t> numbers;
    for (rank_t p = 1; p <= largest; ++p) {
      bool const differs =
          p <= 16 || p == 17 || p == 24 || p == 31 || p == 32 || p == 33 || p == 36 || p == 47 || p == 48;
      if (differs || by_effort(false, false, true)) numbers.push_back(p);
    }
    return numbers;
  }();
  return all;
}

/// Steps each way, and so the largest saved_steps, as the generator itself says when asked for too many.
std::uint32_t most_saved(algorithm how, rank_t ranks) {
  how.parameters["saved_steps"] = "1000000";
  try {
    make(how, ranks);
  } catch (schedule_error const& e) {
    std::string const text = e.what();
    return static_cast<std::uint32_t>(std::stoul(text.substr(text.rfind(' '))));
  }
  return 0;
}

/// All of them up to 8; of more, a few from each end and the middle.
std::vector<std::uint32_t> saved_to_try(std::uint32_t most) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t r = 0; r <= most; ++r)
    if (most <= 8 || r <= 1 || r == most / 2 || r + 1 >= most) result.push_back(r);
  return result;
}

void check_verbs(algorithm const& how, rank_t ranks, bool all_verbs) {
  for (verb const what : find_algorithm(how.name).verbs) {
    if (!all_verbs && what != verb::allreduce) continue;
    properties found;
    ASSERT_NO_THROW(found = validate(make(how, ranks, what, ranks / 3)))
        << how.text() << " P=" << ranks << " " << name_of(what);
    EXPECT_GE(std::max(found.sent_max, found.received_max), found.volume_bound)
        << how.text() << " P=" << ranks << " " << name_of(what);
  }
}

void check(algorithm how, rank_t ranks) {
  for (std::uint32_t const saved : saved_to_try(most_saved(how, ranks))) {
    how.parameters["saved_steps"] = std::to_string(saved);
    check_verbs(how, ranks, saved <= 1);
    if (testing::Test::HasFatalFailure()) return;
  }
}

class Chain : public testing::TestWithParam<std::string> {};

TEST_P(Chain, ServesEveryVerbOnEveryNumberOfRanks) {
  for (rank_t const ranks : numbers_of_ranks()) {
    check(algorithm::parse(GetParam()), ranks);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Chain, HasOneOwnerPerBlockAndTheLeastVolumeWhereNothingIsSaved) {
  for (rank_t const ranks : numbers_of_ranks()) {
    properties const found = validate(make(algorithm::parse(GetParam()), ranks));
    EXPECT_EQ(found.sent_max, found.volume_bound) << ranks;
    EXPECT_EQ(found.received_max, found.volume_bound) << ranks;
    EXPECT_EQ(found.combined_max, fraction(std::int64_t{ranks} - 1, ranks)) << ranks;
    EXPECT_TRUE(found.rank_uniform) << ranks;
  }
}

std::vector<std::string> chains() {
  std::vector<std::string> texts{"direct", "naive", "ring", "bruck"};
  for (int cap = 1; cap <= 4; ++cap) texts.push_back("capped(cap=" + std::to_string(cap) + ")");
  for (std::string const name : {"generalized", "circulant", "dilated"})
    for (int radix = 2; radix <= 8; ++radix) texts.push_back(name + "(radix=" + std::to_string(radix) + ")");
  return texts;
}

std::string test_name(testing::TestParamInfo<std::string> const& info) {
  std::string name;
  for (char const c : info.param) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Chain, testing::ValuesIn(chains()), test_name);

class Ordered : public testing::TestWithParam<std::string> {};

TEST_P(Ordered, KeepsRankOrderOnEveryNumberOfRanks) {
  for (rank_t const ranks : numbers_of_ranks()) {
    algorithm how = algorithm::parse(GetParam());
    how.parameters["ordered"] = "1";
    for (std::uint32_t const saved : saved_to_try(most_saved(how, ranks))) {
      how.parameters["saved_steps"] = std::to_string(saved);
      for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter})
        ASSERT_TRUE(validate(make(how, ranks, what, ranks / 2)).ordered) << how.text() << " P=" << ranks;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ordered,
                         testing::Values("ring", "dilated(radix=2)", "dilated(radix=3)", "dilated(radix=4)"),
                         test_name);

TEST(RankOrder, CostsDilatedLessThanHalfAVectorMore) {
  for (rank_t const ranks : numbers_of_ranks()) {
    if (ranks == 1) continue;
    properties const found = validate(make(algorithm::parse("dilated(ordered=1)"), ranks));
    EXPECT_LT(found.sent_max, found.volume_bound + fraction(1, 2)) << ranks;
    EXPECT_LT(found.received_max, found.volume_bound + fraction(1, 2)) << ranks;
  }
}

TEST(RankOrder, IsMadeOfBruckHoOnEveryNumberOfRanks) {
  for (rank_t const ranks : numbers_of_ranks())
    for (std::string const n : {"1", "2", "3"}) {
      if (ranks == 1) continue;
      properties const found = validate(in_rank_order(make({"bruck_ho", {{"n", n}}}, ranks)));
      EXPECT_TRUE(found.ordered) << ranks << " " << n;
    }
}

TEST(RankOrder, IsRefusedForChainsThatKeepNoCyclicOrder) {
  try {
    in_rank_order(make({"circulant", {}}, 5));
    ADD_FAILURE() << "accepted";
  } catch (schedule_error const& e) {
    EXPECT_NE(std::string(e.what()).find("does not join runs of ranks in cyclic order"), std::string::npos);
  }
}

TEST(Whole, LatencyServesEveryVerbForEveryRadix) {
  for (rank_t const ranks : numbers_of_ranks())
    for (int radix = 2; radix <= 8; ++radix)
      check_verbs(algorithm::parse("latency(radix=" + std::to_string(radix) + ")"), ranks, true);
}

TEST(Binary, ServesEveryVerbAndKeepsRankOrderOnEveryNumberOfRanks) {
  for (rank_t const ranks : numbers_of_ranks()) {
    check(algorithm{"hybrid", {}}, ranks);
    for (std::string const name : {"recursive_doubling", "recursive_halving"}) {
      check_verbs({name, {}}, ranks, true);
      properties const found = validate(make({name, {}}, ranks));
      EXPECT_TRUE(found.ordered && found.rank_uniform) << name << " P=" << ranks;
    }
  }
}

/// All ways to write `ranks` as a product of two or three factors, 1 included.
std::vector<std::string> factorings(rank_t ranks) {
  std::vector<std::string> result;
  for (rank_t a = 1; a <= ranks; ++a)
    for (rank_t b = 1; a * b <= ranks; ++b)
      if (ranks % (a * b) == 0) {
        rank_t const c = ranks / a / b;
        result.push_back(std::to_string(a) + "x" + std::to_string(b) + (c > 1 ? "x" + std::to_string(c) : ""));
      }
  return result;
}

TEST(Hierarchy, ProductBlueConnectAndTowerServeEveryFactoring) {
  for (rank_t const ranks : numbers_of_ranks())
    for (std::string const& dims : factorings(ranks)) {
      check(algorithm::parse("product(dims=" + dims + ")"), ranks);
      check(algorithm::parse("tower(factors=" + dims + ")"), ranks);
      check_verbs(algorithm::parse("blueconnect(dims=" + dims + ")"), ranks, true);
      if (HasFatalFailure()) return;
    }
}

TEST(Hierarchy, ProductIsOrderedAndUniformForEveryFactoringAndSavedSteps) {
  for (rank_t const ranks : numbers_of_ranks())
    for (std::string const& dims : factorings(ranks)) {
      algorithm how = algorithm::parse("product(dims=" + dims + ")");
      for (std::uint32_t saved = 0, most = most_saved(how, ranks); saved <= most; ++saved) {
        how.parameters["saved_steps"] = std::to_string(saved);
        properties const found = validate(make(how, ranks));
        EXPECT_TRUE(found.ordered && found.rank_uniform) << how.text();
      }
    }
}

TEST(Large, SchedulesOfAThousandRanksAreValid) {
  rank_t const ranks = by_effort<rank_t>(256, 1024, 1024);
  for (std::string const text : {"direct", "direct(saved_steps=1)", "generalized",
                                 ranks == 1024 ? "product(dims=16x8x8)" : "product(dims=8x4x8)", "recursive_halving"})
    check_verbs(algorithm::parse(text), ranks, by_effort(false, false, true));
}

TEST(BadInput, IsRefusedWithWhatWouldDo) {
  auto const refusal = [](std::string const& text, rank_t ranks, verb what = verb::allreduce, rank_t root = 0) {
    try {
      make(algorithm::parse(text), ranks, what, root);
    } catch (schedule_error const& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("ring", 0), "ring needs at least one rank");
  EXPECT_EQ(refusal("ring", 4, verb::reduce, 4), "root 4 is none of 4 ranks");
  EXPECT_EQ(refusal("generalized(radix=1)", 4), "radix = 1 folds nothing; take 2 or more");
  EXPECT_EQ(refusal("generalized(radix=two)", 4),
            "generalized(cap=0,radix=two,saved_steps=0): radix takes whole numbers, not 'two'");
  EXPECT_EQ(refusal("capped(cap=0)", 4), "cap = 0 sends nothing; take 1 or more");
  EXPECT_EQ(refusal("direct(saved_steps=2)", 4),
            "saved_steps = 2 is out of range: this algorithm on 4 ranks can save 0 to 1");
  EXPECT_EQ(refusal("product(dims=4x3)", 13), "product: the product of dims=4x3 is not the number of ranks, 13");
  EXPECT_EQ(refusal("product", 13), "product needs the parameter dims");
  EXPECT_EQ(refusal("ring(radix=3)", 4), "ring has no parameter radix; it takes saved_steps, ordered, permute");
  std::string served;  // those that are derived of others stand behind these
  for (bool const derived : {false, true})
    for (verb const what : all_verbs())
      if (detail::is_derived(what) == derived && refusal("ring", 4, what) == "accepted")
        served += (served.empty() ? "" : ", ") + std::string(name_of(what));
  EXPECT_EQ(refusal("ring", 4, verb::scan), "ring does not serve scan; it serves " + served);
  EXPECT_NE(refusal("rong", 4).find("unknown algorithm 'rong'; there are direct, "), std::string::npos);
}

}  // namespace
}  // namespace coset::schedule
