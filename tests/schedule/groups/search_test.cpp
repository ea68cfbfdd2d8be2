// SPDX-License-Identifier: Apache-2.0
// The search for chains: its prices are those of whole schedules, and what it calls proved all chains confirm.
#include "schedule/search/chain_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "schedule/effort.hpp"
#include "schedule/groups/covering.hpp"
#include "schedule/groups/some_groups.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule {
namespace {

using testing::below;
using testing::generator;

constexpr double none = std::numeric_limits<double>::infinity();
bool always() { return true; }

chain chain_of(group const& g, std::vector<element> const& shifts) {
  shift_list steps;
  for (element const s : shifts) steps.push_back({s});
  return covering_chain(g, steps);
}

cost_model two_levels(rank_t group_size) {
  cost_model model;
  model.links = {{group_size, 1e-7, 3e-11, 2e-8, 0}, {UINT32_MAX, 7e-7, 2e-10, 1e-7, 1e-10}};
  model.combine_per_byte = 1e-11;
  model.peers_per_latency = UINT32_MAX;
  return model;
}

/// Every list of at most so many shifts: the least that one takes.
double least_of_all(step_prices const& prices, std::size_t most, std::vector<element>& shifts) {
  double least = none;
  try {
    least = seconds_of(prices, shifts);
  } catch (schedule_error const&) {
  }
  if (shifts.size() == most) return least;
  for (element s = 1; s < prices.ranks().order(); ++s) {
    shifts.push_back(s);
    least = std::min(least, least_of_all(prices, most, shifts));
    shifts.pop_back();
  }
  return least;
}

double least_of_all(step_prices const& prices, std::size_t most) {
  std::vector<element> shifts;
  return least_of_all(prices, most, shifts);
}

std::vector<group> small_groups(rank_t order) {
  std::vector<group> all{group::cyclic(order)};
  if (order % 2 == 0) all.push_back(group::dihedral(order));
  if (order % 2 == 0) all.emplace_back(std::vector<rank_t>{order / 2, 2});
  return all;
}

TEST(StepPrices, AddUpToThePriceOfTheWholeSchedule) {
  generator random(3);
  for (rank_t const ranks : {4u, 6u, 7u, 12u, 16u, 21u, 24u})
    for (group const& g : small_groups(ranks))
      for (cost_model const& model : {cost_model::flat(1e-6, 1e-9, 2e-10), two_levels(4), two_levels(3)}) {
        rank_levels const levels(ranks, groups_of(model));
        for (double const bytes : {8.0, 65536.0}) {
          step_prices const prices(g, levels, model, bytes);
          std::vector<element> shifts;
          for (auto const& step : swing_shifts(ranks)) shifts.push_back(step.front());
          for (int n = 0; n < 4; ++n) shifts.insert(shifts.begin(), 1 + below(random, ranks - 1));
          chain made;
          try {
            made = chain_of(g, shifts);
          } catch (schedule_error const&) {
            continue;
          }
          counts const whole(expand(fold(g, made, made)), levels);
          EXPECT_NEAR(seconds_of(prices, shifts) / whole.seconds(model, bytes), 1, 1e-9) << ranks;
        }
      }
  // A chain of which this is certain.
  cost_model const model = two_levels(4);
  step_prices const prices(group::cyclic(16), rank_levels(16, groups_of(model)), model, 1024);
  counts const whole(testing::schedule_of("dilated", 16), rank_levels(16, groups_of(model)));
  EXPECT_NEAR(seconds_of(prices, {1, 2, 4, 8}) / whole.seconds(model, 1024), 1, 1e-9);
}

TEST(StepPrices, OfANetworkAreThoseOfItsBusiestCable) {
  double const bytes = 800, block = 100;
  step_prices const ring(group::cyclic(8), torus_network{{8}, 1e-6, 1e-8, 1e-9, 1e-10}, bytes);
  // All messages go the same way: each cable carries as many as the shift is long.
  EXPECT_NEAR(ring.fixed(3), 2 * (1e-6 + 3 * 1e-8), 1e-15);
  EXPECT_NEAR(ring.slope(3), block * (2 * 3 * 1e-9 + 1e-10), 1e-15);
  EXPECT_NEAR(ring.slope(5), ring.slope(3), 1e-15);
  EXPECT_NEAR(ring.slope(4), block * (2 * 2 * 1e-9 + 1e-10), 1e-15) << "half each way";
  EXPECT_NEAR(ring.seconds(3, 5), ring.fixed(3) + 5 * ring.slope(3), 1e-15);
  step_prices const six(group::cyclic(6), torus_network{{6}, 1e-6, 1e-8, 1e-9, 0}, 600);
  for (element s = 1; s < 6; ++s) {
    rank_t const apart = std::min(s, 6 - s);
    EXPECT_NEAR(six.fixed(s), 2 * (1e-6 + apart * 1e-8), 1e-15) << s;
    EXPECT_NEAR(six.slope(s), block * 2 * (s == 3 ? 1.5 : apart) * 1e-9, 1e-15) << s;
  }
  // Reflections go both ways: even ranks forwards, odd ones backwards.
  step_prices const swing(group::dihedral(8), torus_network{{8}, 1e-6, 1e-8, 1e-9, 1e-10}, bytes);
  EXPECT_NEAR(swing.slope(1), block * (2 * 1e-9 + 1e-10), 1e-15);
  EXPECT_NEAR(swing.slope(3), block * (2 * 2 * 1e-9 + 1e-10), 1e-15);
  // A torus, one dimension after the other.
  step_prices const torus(group({4, 4}), torus_network{{4, 4}, 1e-6, 1e-8, 1e-9, 0}, 1600);
  EXPECT_NEAR(torus.fixed(1 + 4), 2 * (1e-6 + 2e-8), 1e-15);
  EXPECT_NEAR(torus.slope(1), 2 * block * 1e-9, 1e-15);
  EXPECT_NEAR(torus.slope(4), 2 * block * 1e-9, 1e-15);
  EXPECT_NEAR(torus.slope(1 + 4), 2 * block * 1e-9, 1e-15);
  EXPECT_NEAR(torus.slope(2), 2 * block * 1e-9, 1e-15);
}

TEST(StepPrices, RefuseWhatIsNoNetworkOfTheseRanks) {
  EXPECT_THROW(step_prices(group::cyclic(8), torus_network{{3, 3}}, 8), schedule_error);
  EXPECT_THROW(step_prices(group::cyclic(2048), torus_network{{2048}}, 8), schedule_error);
}

TEST(Search, FindsWhatAllChainsConfirm) {
  for (rank_t ranks = 2; ranks <= by_effort<rank_t>(7, 9, 12); ++ranks) {
    std::size_t const most = static_cast<std::size_t>(std::bit_width(ranks - 1)) + (ranks <= 6 ? 1 : 0);
    for (group const& g : small_groups(ranks)) {
      std::vector<step_prices> all;
      for (double const alpha : {0.0, 1e-7, 1e-5})
        all.emplace_back(g, torus_network{{ranks}, alpha, 1e-8, 1e-9, 1e-10}, 65536);
      for (rank_t const size : {2u, 3u}) all.emplace_back(g, rank_levels(ranks, {size, ranks}), two_levels(size), 4096);
      for (step_prices const& prices : all) {
        auto const found = search_chain(prices, {.most_steps = most, .goes_on = always, .most_of_the_field = most});
        EXPECT_EQ(found.proved_steps, most);
        EXPECT_NEAR(found.best.seconds / least_of_all(prices, most), 1, 1e-9) << "P=" << ranks;
        EXPECT_NEAR(seconds_of(prices, found.best.shifts), found.best.seconds, 1e-15);
        EXPECT_EQ(found.bound, found.best.seconds);
      }
    }
  }
}

/// Where every step doubles what is reached, sets of sums are looked at once.
TEST(Search, FindsChainsThatAreNotOfTheField) {
  step_prices const prices(group::dihedral(16), torus_network{{16}, 3e-5, 0, 1e-8, 2e-10}, 65536);
  auto const found = search_chain(prices, {4, always});
  EXPECT_EQ(found.proved_steps, 4u);
  EXPECT_NEAR(found.best.seconds, seconds_of(prices, {1, 2, 4, 15}), 1e-12);
  EXPECT_LT(found.best.seconds, 0.95 * seconds_of(prices, {1, 15, 3, 11}));
}

TEST(Search, BeginsWithTheChainsOfTheField) {
  auto const at_once = [](step_prices const& prices) {
    return search_chain(prices, {8, [] { return false; }}).best.seconds;
  };
  cost_model const model = two_levels(16);
  rank_levels const levels(256, groups_of(model));
  step_prices const in_digits(group({16, 16}), levels, model, 65536);
  EXPECT_LE(at_once(in_digits), seconds_of(in_digits, {1, 2, 4, 8, 16, 32, 64, 128}) * (1 + 1e-9));
  torus_network const ring{{200}, 1e-6, 0, 1e-9, 0};
  step_prices const cyclic(group::cyclic(200), ring, 65536), dihedral(group::dihedral(200), ring, 65536);
  EXPECT_LE(at_once(cyclic), seconds_of(cyclic, {1, 2, 4, 8, 16, 32, 64, 128}) * (1 + 1e-9));
  std::vector<element> swing;
  for (auto const& step : swing_shifts(200)) swing.push_back(step.front());
  EXPECT_LE(at_once(dihedral), seconds_of(dihedral, swing) * (1 + 1e-9));
}

TEST(Search, KnowsWhenMoreStepsCannotHelp) {
  cost_model const model = cost_model::flat(1e-6, 1e-9, 1e-10);
  step_prices const flat(group::cyclic(22), rank_levels(22, groups_of(model)), model, 1024);
  auto const found = search_chain(flat, {5, always});
  EXPECT_TRUE(found.for_any_steps);
  EXPECT_EQ(found.best.shifts.size(), 5u);
  // Without latencies the ring is best, whose 21 steps it was not allowed to take.
  step_prices const ring(group::cyclic(22), torus_network{{22}, 0, 0, 1e-9, 0}, 1024);
  EXPECT_FALSE(search_chain(ring, {.most_steps = 5, .goes_on = always, .most_of_the_field = 5}).for_any_steps);
  auto const own = search_chain(ring, {5, always});
  EXPECT_EQ(own.best.shifts, std::vector<element>(21, 1));
  EXPECT_TRUE(own.for_any_steps);
  EXPECT_TRUE(search_chain({group::cyclic(4), torus_network{{4}, 0, 0, 1e-9, 0}, 1024}, {100, always}).for_any_steps);
}

TEST(Search, StopsWhenToldAndTellsTheBestSoFarAndABound) {
  step_prices const prices(group::dihedral(64), torus_network{{64}, 1e-6, 1e-8, 1e-9, 0}, 65536);
  std::vector<double> told;
  auto const found =
      search_chain(prices, {8, [] { return false; }, [&](priced_chain const& c) { told.push_back(c.seconds); }});
  EXPECT_LE(found.looked_at, 1024u);
  EXPECT_LT(found.proved_steps, 8u);
  EXPECT_FALSE(found.for_any_steps);
  EXPECT_GT(found.bound, 0);
  EXPECT_LE(found.bound, found.best.seconds);
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.rbegin(), told.rend()));
  EXPECT_EQ(told.back(), found.best.seconds);
  std::vector<element> swing;
  for (auto const& step : swing_shifts(64)) swing.push_back(step.front());
  EXPECT_LE(found.best.seconds, seconds_of(prices, swing));
}

TEST(Search, LooksForNothingThatIsNotCheaper) {
  step_prices const prices(group::cyclic(8), torus_network{{8}, 1e-6, 1e-8, 1e-9, 0}, 65536);
  auto const best = search_chain(prices, {4, always}).best;
  auto const again = search_chain(prices, {4, always, {}, best.seconds});
  EXPECT_TRUE(again.best.shifts.empty());
  EXPECT_EQ(again.proved_steps, 4u);
}

TEST(Search, OfOneRankHasNothingToDo) {
  step_prices const prices(group::cyclic(1), torus_network{{1}}, 8);
  auto const found = search_chain(prices, {3, always});
  EXPECT_TRUE(found.best.shifts.empty() && found.for_any_steps);
}

}  // namespace
}  // namespace coset::schedule
