// SPDX-License-Identifier: Apache-2.0
// Storage policies by name, and what the programs of the fast paths are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "calls.hpp"

namespace coset::program::testing {
namespace {

TEST(Policy, IsFoundByTheNameItGives) {
  std::set<policy> all;
  for (std::string const& name : policy_names()) {
    policy const p = parse_policy(name);
    EXPECT_EQ(policy_name(p), name);
    all.insert(p);
  }
  EXPECT_EQ(all.size(), policy_names().size());
}

TEST(Policy, TakesBothSuffixesInOneOrder) {
  EXPECT_EQ(policy_name(parse_policy("staged+library")), "staged+library");
  EXPECT_EQ(policy_name(parse_policy("push+stream+library")), "push+stream+library");
  EXPECT_THROW(parse_policy("push+library+stream"), schedule_error);
  EXPECT_THROW(parse_policy("+library"), schedule_error);
}

TEST(Policy, RefusesUnknownNamesWithThoseThereAre) {
  try {
    parse_policy("stagged");
    ADD_FAILURE() << "accepted";
  } catch (schedule_error const& e) {
    EXPECT_NE(std::string(e.what()).find("'stagged'; there are staged, staged_pull, "), std::string::npos);
  }
}

std::size_t most_waits(compiled const& c) {
  std::size_t most = 0;
  for (program const& p : c.of) most = std::max(most, p.waits.size());
  return most;
}

TEST(FastPath, EagerIsOneRoundOfEntries) {
  for (rank_t ranks = 2; ranks <= 16; ++ranks) {
    compiled const c = *call_of(plan_of("direct(saved_steps=1)", ranks), "staged_pull").code;
    EXPECT_EQ(most_waits(c), ranks - 1);
    EXPECT_EQ(c.span, entry_signal);
    EXPECT_EQ(c.layers, 1u);
  }
}

TEST(FastPath, StagedAndZeroCopyAreTwoRounds) {
  for (rank_t ranks = 2; ranks <= 16; ++ranks) {
    for (std::string const storage : {"staged", "zero_copy"}) {
      for (arrays const how : {arrays::apart, arrays::one}) {
        compiled const c = *call_of(plan_of("direct", ranks), storage, how).code;
        EXPECT_EQ(most_waits(c), 2 * (ranks - 1)) << storage;
        EXPECT_EQ(c.span, entry_signal + 1) << storage;
        EXPECT_EQ(c.layers, storage == "staged" ? 1u : 0u) << storage;
      }
    }
  }
}

TEST(FastPath, OnlyStagedProgramsAreWithoutForeignInstructions) {
  for (std::string const& name : policy_names()) {
    compiled const c = *call_of(plan_of("direct", 4), name).code;
    bool const foreign =
        std::ranges::any_of(c.of, [](program const& p) { return std::ranges::any_of(p.code, &instruction::foreign); });
    EXPECT_EQ(foreign, !all_staged(c.storage)) << name;
  }
}

TEST(Full, ProgramsIntroduceEveryPairOfRanks) {
  for (std::string const algorithm : {"direct", "generalized", "recursive_halving", "ring", "bruck"}) {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
      compiled const c = *call_of(plan_of(algorithm, ranks), "staged").code;
      ASSERT_TRUE(c.full);
      for (rank_t r = 0; r < ranks; ++r) {
        for (rank_t q = 0; q < r; ++q) {
          auto const looks = [&](rank_t a, rank_t b) {
            return std::ranges::any_of(c.of[a].waits, [b](wait const& w) { return w.rank == b; }) ||
                   std::ranges::find(c.of[a].unmet, b) != c.of[a].unmet.end();
          };
          EXPECT_TRUE(looks(r, q) || looks(q, r)) << algorithm << " " << ranks << ": " << r << " " << q;
        }
      }
    }
  }
}

}  // namespace
}  // namespace coset::program::testing
