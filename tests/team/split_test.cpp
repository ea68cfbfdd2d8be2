// SPDX-License-Identifier: Apache-2.0
// Teams split from teams.
#include <optional>

#include "support/verbs.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

struct Split : ::testing::TestWithParam<rank_t> {
  team ranks{options_for(GetParam())};
};

TEST_P(Split, GivesTheRanksOfAColourATeamInTheOrderOfKeys) {
  std::atomic<rank_t> right = 0;
  ranks.run([&](member& me) {
    int const colour = static_cast<int>(me.rank() % 3);
    member part = me.split(colour, -static_cast<int>(me.rank()));
    std::vector<rank_t> members(part.size());
    allgather(part, std::array{me.rank()}, members);
    bool fits = members[part.rank()] == me.rank() && std::is_sorted(members.rbegin(), members.rend());
    for (rank_t const r : members) fits = fits && static_cast<int>(r % 3) == colour;
    right += fits && part.size() == (me.size() + 2 - static_cast<rank_t>(colour)) / 3;
  });
  EXPECT_EQ(right, ranks.size());
}

TEST_P(Split, WorksBesideTheWholeAndCanBeSplitAgain) {
  std::atomic<rank_t> right = 0;
  ranks.run([&](member& me) {
    member half = me.split(static_cast<int>(me.rank() % 2));
    member quarter = half.split(static_cast<int>(half.rank() % 2));
    bool fits = true;
    for (int k = 0; k < 20; ++k) {
      fits = fits && allreduce(quarter, 1u) == quarter.size();
      fits = fits && allreduce(half, 1u) == half.size();
      fits = fits && allreduce(me, 1u) == me.size();
    }
    right += fits;
  });
  EXPECT_EQ(right, ranks.size());
}

TEST_P(Split, IsWhereItsRanksAre) {
  if (!ranks.state().shape.pinned) GTEST_SKIP() << "nobody is pinned";
  ranks.run([](member& me) {
    member part = me.split(static_cast<int>(me.rank() % 2));
    auto const& places = part.state().team.shape.places;
    ASSERT_EQ(places.size(), part.size());
    EXPECT_EQ(places[part.rank()].os_index, me.state().team.shape.places[me.rank()].os_index);
  });
}

/// Red if progress is made for the operations of the team at hand only.
TEST_P(Split, AdvancesOperationsOfTheWhole) {
  std::atomic<rank_t> right = 0;
  ranks.run([&](member& me) {
    member same = me.split(0);
    std::vector<double> values(5000, 1.0);
    request under_way = start_allreduce(me, values);
    if (me.rank() == 0) barrier(same);
    under_way.wait();
    if (me.rank() != 0) barrier(same);
    right += values.front() == me.size() && values.back() == me.size();
  });
  EXPECT_EQ(right, ranks.size());
}

/// Red if a split team has a failure of its own.
TEST_P(Split, FailsWithTheWhole) {
  if (ranks.size() < 3) return;
  std::vector<outcome> others(ranks.size());
  auto const thrown = outcome_of([&] {
    ranks.run([&](member& me) {
      auto const body = [&] {
        member pair = me.split(static_cast<int>(me.rank() / 2));
        if (me.rank() == 0) throw std::domain_error("told so");
        for (;;) barrier(pair);  // rank 0's partner, and those that have nothing to do with it
      };
      if (me.rank() == 0) return body();
      others[me.rank()] = outcome_of(body);
    });
  });
  EXPECT_EQ(thrown.message, "told so");
  others.erase(others.begin());
  expect_everybody_threw<aborted>(others, {"told so"});
  expect_works(ranks);
}

TEST_P(Split, DisagreementIsToldToEverybody) {
  if (ranks.size() < 4) return;
  auto const all = outcomes(ranks, [&](member& me) {
    member half = me.split(static_cast<int>(me.rank() % 2));
    std::vector<int> values(me.rank() == 0 ? 10 : 20);
    allreduce(half, values);
    for (;;) barrier(half);
  });
  expect_everybody_threw<mismatch_error>(all, {"10", "20"});
  expect_works(ranks);
}

TEST_P(Split, OfAnEarlierRunIsRefused) {
  std::vector<std::optional<member>> kept(ranks.size());
  ranks.run([&](member& me) { kept[me.rank()].emplace(me.split(0)); });
  ranks.run([&](member& me) { EXPECT_THROW(barrier(*kept[me.rank()]), argument_error); });
  ranks.run([&](member& me) { kept[me.rank()].reset(); });
  expect_works(ranks);
}

TEST_P(Split, ByNodesKeepsTheRanksOfANode) {
  ranks.run([&](member& me) {
    member mine = me.node_team();
    std::vector<unsigned> nodes(mine.size());
    allgather(mine, std::array{me.node()}, nodes);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), me.node()), static_cast<std::ptrdiff_t>(mine.size()));
    if (topology::machine().nodes.size() == 1) {
      EXPECT_EQ(mine.size(), me.size());
    }
  });
}

TEST_P(Split, ServesEveryVerb) {
  std::vector<std::string> faults(ranks.size());
  std::vector<std::vector<long>> shared(2, std::vector<long>(1000 * ranks.size()));
  ranks.run([&](member& me) {
    member half = me.split(static_cast<int>(me.rank() % 2));
    for (verb const what : all_verbs()) {
      for (std::size_t const each : {0, 2, 900}) {
        task const t{.what = what, .counts = even_counts(half.size(), each), .root = half.size() - 1, .seed = each};
        auto mine = prepared<long>(t, half.rank());
        std::vector<long> viewed;
        std::span<long> const common = std::span(shared[me.rank() % 2]).first(t.total());
        call(half, t, spans_of<long>(t, half.rank(), mine, common), viewed);
        std::string const wrong = fault_of<long>(t, half.rank(), mine, common, viewed);
        if (faults[me.rank()].empty()) faults[me.rank()] = wrong;
        barrier(half);
      }
    }
  });
  for (auto const& f : faults) EXPECT_EQ(f, "");
}

/// Red if it goes without a word: the others would wait for ever, or be told something else.
TEST_P(Split, WithSomethingUnderWayThatGoesAbortsTheTeam) {
  if (ranks.size() == 1) return;
  auto const all = outcomes(ranks, [](member& me) {
    std::optional<member> part = me.split(0);
    std::vector<int> x(10);
    request under_way;
    if (me.rank() == 1) under_way = start_allreduce(*part, x);  // the others never come
    part.reset();
    for (;;) barrier(me);
  });
  expect_everybody_threw<aborted>(all, {"rank 1 gave up an operation"});
  expect_works(ranks);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Split, ::testing::Values(1, 2, 3, 4, 7, 12), size_name);

}  // namespace
}  // namespace coset::team_test
