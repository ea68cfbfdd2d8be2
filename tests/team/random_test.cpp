// SPDX-License-Identifier: Apache-2.0
// Random collectives on random teams. Every result is checked against a serial reference.
#include <map>

#include "support/walk.hpp"

namespace coset::team_test {
namespace {

struct equipped_team {
  team ranks;
  plan_list plans;

  equipped_team(rank_t size, engine& choices)
      : ranks(options_for(size)),
        plans(random_plans(ranks.state(), size, choices,
                           {"auto", "direct", "ring", "generalized(radix=3)", "binomial", "circulant",
                            "recursive_doubling", "n_block(blocks=5)", "two_trees", "dual_root", "pipelined(blocks=4)"},
                           {"auto", "staged", "zero_copy", "output", "pull", "push", "zero_copy_push"}, true)) {}
};

void try_tasks(equipped_team& on, engine& choices, std::size_t number) {
  auto const tasks = random_tasks(choices, number, on.ranks.size(), on.plans, true);
  auto shared = shared_arrays(tasks);
  std::uint64_t const seed = choices();
  std::vector<std::string> faults(on.ranks.size());
  // A rank that finds a fault goes no further, and others may miss it then.
  std::string const thrown =
      outcome_of([&] {
        on.ranks.run([&](member& me) { faults[me.rank()] = walk(me, on.plans, shared, seed).run(tasks); });
      }).message;
  for (auto const& fault : faults) ASSERT_EQ(fault, "");
  ASSERT_EQ(thrown, "");
}

TEST(RandomCollectives, OfAllTypesAndOperationsAreRight) {
  std::uint64_t const seed = test::seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine choices(seed);
  std::map<rank_t, std::unique_ptr<equipped_team>> teams;
  std::size_t const collectives = test::by_effort<std::size_t>(3'000, 10'000, 1'000'000), each = 100;
  for (std::size_t done = 0; done < collectives; done += each) {
    auto const size = static_cast<rank_t>(1 + below(choices, 12));
    auto& on = teams[size];
    if (!on) on = std::make_unique<equipped_team>(size, choices);
    try_tasks(*on, choices, each);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace coset::team_test
