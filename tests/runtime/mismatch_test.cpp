// SPDX-License-Identifier: Apache-2.0
// Ranks that disagree: every one of them is told, with what both were doing, and the team works afterwards.
#include <random>

#include "planning/program/program.hpp"
#include "support/plan_texts.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

class Mismatch : public ::testing::TestWithParam<rank_t> {
 protected:
  team ranks{options_for(GetParam())};
  rank_t const odd_one = GetParam() / 2;

  bool odd(member const& me) const { return me.rank() == odd_one; }

  void expect_mismatch(std::function<void(member&)> const& body, std::vector<std::string> const& words) {
    for (int repetition = 0; repetition < 5; ++repetition)
      expect_everybody_threw<mismatch_error>(outcomes(ranks, body), words);
    expect_works(ranks);
  }
};

TEST_P(Mismatch, OfCountsIsThrownEverywhereWithBothSignatures) {
  for (auto const& [one, other] : {std::pair{1000, 1001}, {0, 1}, {5, 100000}, {100000, 5}}) {
    expect_mismatch(
        [&, a = one, b = other](member& me) {
          std::vector<float> items(odd(me) ? a : b);
          allreduce(me, items);
        },
        {"allreduce of " + std::to_string(one) + " float", "allreduce of " + std::to_string(other) + " float"});
  }
}

TEST_P(Mismatch, OfTypesIsThrownEverywhere) {
  expect_mismatch(
      [&](member& me) {
        std::vector<double> doubles(10);
        std::vector<std::int64_t> integers(10);
        odd(me) ? allreduce(me, doubles) : allreduce(me, integers);
      },
      {"10 double", "10 long"});
}

TEST_P(Mismatch, OfOperationsIsThrownEverywhere) {
  expect_mismatch(
      [&](member& me) {
        std::vector<double> items(10);
        odd(me) ? allreduce(me, items, minimum{}) : allreduce(me, items, maximum{});
      },
      {"minimum", "maximum"});
}

TEST_P(Mismatch, OfInPlaceAndNotIsThrownEverywhere) {
  expect_mismatch(
      [&](member& me) {
        std::vector<double> items(10), out(10);
        odd(me) ? allreduce(me, items) : allreduce(me, items, out);
      },
      {"in place"});
}

TEST_P(Mismatch, OfVerbsIsThrownEverywhere) {
  expect_mismatch(
      [&](member& me) {
        std::vector<double> items(10);
        odd(me) ? barrier(me) : allreduce(me, items);
      },
      {"barrier", "allreduce of 10 double"});
}

TEST_P(Mismatch, OfAPlanAndACallIsThrownEverywhere) {
  auto const sum = make_plan<double>(ranks, 10);
  expect_mismatch(
      [&](member& me) {
        std::vector<double> items(10);
        odd(me) ? sum.execute(me, items, items) : allreduce(me, items);
      },
      {"plan"});
}

TEST_P(Mismatch, AfterAThousandAgreementsIsThrownEverywhere) {
  expect_mismatch(
      [&](member& me) {
        for (int i = 0; i < 1000; ++i) barrier(me);
        odd(me) ? barrier(me) : static_cast<void>(allreduce(me, 1));
      },
      {"barrier", "allreduce of 1 int"});
}

TEST_P(Mismatch, IsWhatTheOthersSeeOfARankThatReturnsEarly) {
  for (int repetition = 0; repetition < 5; ++repetition) {
    auto all = outcomes(ranks, [&](member& me) {
      barrier(me);
      if (!odd(me)) barrier(me);
    });
    EXPECT_EQ(all[odd_one].type, "");
    all.erase(all.begin() + odd_one);
    expect_everybody_threw<mismatch_error>(all, {"rank " + std::to_string(odd_one) + " has left", "barrier"});
  }
  expect_works(ranks);
}

TEST_P(Mismatch, IsNotSeenInARankThatLeavesAfterItsLastCollective) {
  for (int run = 0; run < 200; ++run) {
    for (outcome const& one : outcomes(ranks, [](member& me) { barrier(me); })) ASSERT_EQ(one.type, "") << one.message;
  }
}

/// Whatever the plans: none lets a rank wait for one that waits for it.
TEST_P(Mismatch, OfAnyTwoPlansIsThrownEverywhere) {
  std::mt19937 choices(GetParam());
  std::vector<plan<int>> plans;
  auto const texts = plan_texts(ranks.size());
  auto const storages = program::policy_names();
  while (plans.size() < 40) {
    try {
      plans.push_back(
          make_plan<int>(ranks, 100, plus{}, {texts[choices() % texts.size()], storages[choices() % storages.size()]}));
    } catch (schedule_error const&) {
      continue;  // another pair is drawn
    }
  }
  for (int trial = 0; trial < test::by_effort(50, 400, 10000); ++trial) {
    std::size_t const one = choices() % plans.size(), other = choices() % plans.size();
    if (plans[one].describe() == plans[other].describe()) continue;
    std::uint32_t const who = 1 + choices() % ((1u << ranks.size()) - 2);
    SCOPED_TRACE(plans[one].describe() + " beside " + plans[other].describe() + ", by the ranks of the mask " +
                 std::to_string(who));
    expect_everybody_threw<mismatch_error>(outcomes(ranks,
                                                    [&](member& me) {
                                                      std::vector<int> in(100), out(100);
                                                      plans[(who >> me.rank() & 1) != 0 ? one : other].execute(me, in,
                                                                                                               out);
                                                    }),
                                           {"plan"});
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Mismatch, ::testing::Values(2, 3, 5, 8, 12), size_name);

}  // namespace
}  // namespace coset::team_test
