// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the registry × verb × storage × way to call, several operations in a row: right and without races.
#include <gtest/gtest.h>

#include "calls.hpp"
#include "effort.hpp"
#include "results.hpp"
#include "support/plan_texts.hpp"

namespace coset::program::testing {
namespace {

/// Every how many cases one is tried.
std::uint64_t stride(rank_t ranks) {
  using test::by_effort;
  if (ranks <= 3) return by_effort(11, 1, 1);
  if (ranks <= 4) return by_effort(11, 3, 1);
  if (ranks <= 8) return by_effort(307, 13, 1);
  if (ranks <= 17) return by_effort(3001, 101, 3);
  return by_effort(20011, 2003, 101);
}

/// Two plans that differ in the root where there is one, so that each operation is followed by either, and by one that
/// uses the same lines and staging for another root.
std::vector<plan_pointer> plans_of(std::string const& algorithm, rank_t ranks, verb what) {
  std::vector<plan_pointer> plans{plan_of(algorithm, ranks, what, 0)};
  plans.push_back(rooted(what) ? plan_of(algorithm, ranks, what, ranks - 1) : plans.front());
  return plans;
}

/// Only a result that takes the place of an input that peers still read can be too early, and only where several ranks
/// end with a result of what they all read: these verbs have another program in place.
bool may_lose_values(verb what, policy const& p) {
  bool const exposed = p.first == area::output || (p.in_place && !all_staged(p));
  return exposed && coset::detail::row_of(what).in_place == coset::detail::same_array::told;
}

class EveryAlgorithm : public ::testing::TestWithParam<rank_t> {
 protected:
  void check(std::vector<plan_pointer> const& plans, policy const& storage, arrays how) {
    std::string const text = text_of(*plans.front(), storage, how);
    try {
      call const a = call_of(plans[0], storage, how), b = call_of(plans[1], storage, how);
      auto const failure = failure_of({a, b, b, a, a}, test::seed() + cases_);
      EXPECT_FALSE(failure) << text << ": " << *failure;
      // A rank that goes on alone uses its lines and staging again, whatever the others have yet to do there.
      auto const alone = static_cast<rank_t>((test::seed() + cases_) % a.code->ranks);
      for (call const& first : {a, b}) {
        auto const late =
            failure_of({first, idle(first.code->ranks), lone_owner(first.code->ranks, alone)}, test::seed() + cases_);
        EXPECT_FALSE(late) << text << ", then rank " << alone << " alone: " << *late;
      }
    } catch (schedule_error const& e) {
      EXPECT_TRUE(may_lose_values(plans.front()->verb, storage)) << text << ": " << e.what();
    }
  }

  /// Drawn, since any fixed stride would fall in step with the storages.
  bool chosen() {
    drawn_ = folded(++cases_, test::seed());
    return drawn_ % stride(GetParam()) == 0;
  }
  bool widens() const { return drawn_ >> 40 & 1; }

 private:
  std::uint64_t cases_ = 0, drawn_ = 0;
};

TEST_P(EveryAlgorithm, DoesWhatItsScheduleSaysWithoutRacesUnderEveryStorage) {
  rank_t const ranks = GetParam();
  for (std::string const& algorithm : team_test::plan_texts(ranks)) {
    for (verb const what : schedule::find_algorithm(schedule::algorithm::parse(algorithm).name).verbs) {
      std::vector<plan_pointer> plans;
      for (arrays const how : ways_to_call(what)) {
        for (std::string const& name : policy_names()) {
          if (!chosen()) continue;
          if (plans.empty()) plans = plans_of(algorithm, ranks, what);
          policy storage = storage_of(name, how);
          storage.widens = widens();
          check(plans, storage, how);
          if (HasFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryAlgorithm,
                         ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace coset::program::testing
