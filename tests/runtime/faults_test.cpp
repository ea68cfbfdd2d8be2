// SPDX-License-Identifier: Apache-2.0
// Thousands of runs in which one rank does one of some thirty things wrong: none hangs, none leaves anything behind.
#include "support/faults.hpp"

#include <optional>

#include "support/teams.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

/// Of some, gathers of any length are stored into the root's array by others.
team made_of(rank_t p) {
  std::optional<test::variable> stored;
  if (p % 2 == 1) stored.emplace("COSET_GATHER", "direct/zero_copy");
  return team(options_for(p));
}

TEST(Faults, OfAllKindsEndAndLeaveATeamThatWorks) {
  std::mt19937_64 choices(test::seed());
  constexpr rank_t most = 6;
  struct one_team {
    team ranks;
    plan_table plans;
    std::vector<kept_things> kept;
    explicit one_team(rank_t p) : ranks(made_of(p)), plans(ranks), kept(p) {}
  };
  std::vector<std::unique_ptr<one_team>> teams;
  for (rank_t p = 2; p <= most; ++p) teams.push_back(std::make_unique<one_team>(p));
  int failed = 0;
  int const runs = test::by_effort(150, 400, 10'000);
  for (int run = 0; run < runs; ++run) {
    one_team& on = *teams[choices() % teams.size()];
    std::uint64_t const seed = choices();
    faulty_run const faulty(seed, on.ranks.size(), {});
    SCOPED_TRACE("run " + std::to_string(run) + ": " + faulty.text());
    faulty.make_plans(on.plans);
    try {
      on.ranks.run([&](member& me) {
        faulty.go_through(
            me, on.kept[me.rank()], &on.plans, [&] { on.ranks.abort("by somebody"); },
            [&] { on.ranks.run([](member&) {}); });
      });
    } catch (std::logic_error const& wrong) {
      FAIL() << wrong.what();
    } catch (std::exception const&) {
      ++failed;
    } catch (int) {
      ++failed;
    }
    for (kept_things& k : on.kept) k.let_go(seed >> 32);
    try {
      on.ranks.run([&](member& me) { check_everything(me, seed >> 16, true); });
    } catch (std::exception const& wrong) {
      FAIL() << wrong.what();
    }
    // Teams end, too, with what is kept of them alive.
    if (run % 50 == 49) {
      std::vector<kept_things> outlives = std::move(on.kept);
      auto& place = teams[on.ranks.size() - 2];
      place = std::make_unique<one_team>(on.ranks.size());
    }
  }
  EXPECT_GT(failed, runs / 2) << "so few faults were noticed";
}

}  // namespace
}  // namespace coset::team_test
