// SPDX-License-Identifier: Apache-2.0
// The search for chains: its prices are those of whole schedules, and what it calls proved all chains confirm.
#include "lab/search/wide_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "command/shown/networks/network.hpp"
#include "planning/schedule/groups/covering.hpp"
#include "schedule/effort.hpp"
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

/// Ranks on a ring or torus, the fastest dimension first: seconds a step, a cable of the longest way, a byte, a byte
/// combined.
struct torus {
  std::vector<rank_t> dims;
  double alpha = 0, hop = 0, beta = 0, gamma = 0;
};

step_prices prices_on(group const& g, torus const& on, double bytes) {
  std::vector<rank_t> const dims(on.dims.rbegin(), on.dims.rend());
  return {
      g,
      std::make_shared<routes>(grid_network(dims, true, {.link = {on.hop, on.beta}}), rank_costs{on.alpha, on.gamma}),
      bytes};
}

step_prices prices_on(group const& g, cost_model const& model, double bytes) {
  return {g, std::make_shared<level_machine>(g.order(), model), bytes};
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
        for (double const bytes : {8.0, 65536.0}) {
          auto const prices = prices_on(g, model, bytes);
          std::vector<element> shifts;
          for (auto const& step : swing_shifts(ranks)) shifts.push_back(step.front());
          for (int n = 0; n < 4; ++n) shifts.insert(shifts.begin(), 1 + below(random, ranks - 1));
          chain made;
          try {
            made = chain_of(g, shifts);
          } catch (schedule_error const&) {
            continue;
          }
          counts const whole(expand(fold(g, made, made)), model);
          EXPECT_NEAR(seconds_of(prices, shifts) / whole.seconds(bytes), 1, 1e-9) << ranks;
        }
      }
  // A chain of which this is certain.
  cost_model const model = two_levels(4);
  auto const prices = prices_on(group::cyclic(16), model, 1024);
  counts const whole(testing::schedule_of("dilated", 16), model);
  EXPECT_NEAR(seconds_of(prices, {1, 2, 4, 8}) / whole.seconds(1024), 1, 1e-9);
}

TEST(StepPrices, OfANetworkAreThoseOfItsBusiestCable) {
  double const bytes = 800, block = 100;
  auto const ring = prices_on(group::cyclic(8), torus{{8}, 1e-6, 1e-8, 1e-9, 1e-10}, bytes);
  // All messages go the same way: each cable carries as many as the shift is long.
  EXPECT_NEAR(ring.fixed(3), 2 * (1e-6 + 3 * 1e-8), 1e-15);
  EXPECT_NEAR(ring.slope(3), block * (2 * 3 * 1e-9 + 1e-10), 1e-15);
  EXPECT_NEAR(ring.slope(5), ring.slope(3), 1e-15);
  EXPECT_NEAR(ring.slope(4), block * (2 * 4 * 1e-9 + 1e-10), 1e-15) << "upwards where both ways are as long";
  EXPECT_NEAR(ring.seconds(3, 5), ring.fixed(3) + 5 * ring.slope(3), 1e-15);
  auto const six = prices_on(group::cyclic(6), torus{{6}, 1e-6, 1e-8, 1e-9, 0}, 600);
  for (element s = 1; s < 6; ++s) {
    rank_t const apart = std::min(s, 6 - s);
    EXPECT_NEAR(six.fixed(s), 2 * (1e-6 + apart * 1e-8), 1e-15) << s;
    EXPECT_NEAR(six.slope(s), block * 2 * apart * 1e-9, 1e-15) << s;
  }
  // Reflections go both ways: even ranks forwards, odd ones backwards.
  auto const swing = prices_on(group::dihedral(8), torus{{8}, 1e-6, 1e-8, 1e-9, 1e-10}, bytes);
  EXPECT_NEAR(swing.slope(1), block * (2 * 1e-9 + 1e-10), 1e-15);
  EXPECT_NEAR(swing.slope(3), block * (2 * 2 * 1e-9 + 1e-10), 1e-15);
  // A torus, one dimension after the other.
  auto const grid = prices_on(group({4, 4}), torus{{4, 4}, 1e-6, 1e-8, 1e-9, 0}, 1600);
  EXPECT_NEAR(grid.fixed(1 + 4), 2 * (1e-6 + 2e-8), 1e-15);
  EXPECT_NEAR(grid.slope(1), 2 * block * 1e-9, 1e-15);
  EXPECT_NEAR(grid.slope(4), 2 * block * 1e-9, 1e-15);
  EXPECT_NEAR(grid.slope(1 + 4), 2 * block * 1e-9, 1e-15);
  EXPECT_NEAR(grid.slope(2), 4 * block * 1e-9, 1e-15);
}

TEST(StepPrices, RefuseWhatIsNoNetworkOfTheseRanks) {
  EXPECT_THROW(prices_on(group::cyclic(8), torus{{3, 3}}, 8), schedule_error);
  EXPECT_THROW(prices_on(group::cyclic(2048), torus{{2048}}, 8), schedule_error);
}

TEST(Search, FindsWhatAllChainsConfirm) {
  for (rank_t ranks = 2; ranks <= by_effort<rank_t>(7, 9, 12); ++ranks) {
    std::size_t const most = static_cast<std::size_t>(std::bit_width(ranks - 1)) + (ranks <= 6 ? 1 : 0);
    for (group const& g : small_groups(ranks)) {
      std::vector<step_prices> all;
      for (double const alpha : {0.0, 1e-7, 1e-5})
        all.push_back(prices_on(g, torus{{ranks}, alpha, 1e-8, 1e-9, 1e-10}, 65536));
      for (rank_t const size : {2u, 3u}) all.push_back(prices_on(g, two_levels(size), 4096));
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
  auto const prices = prices_on(group::dihedral(16), torus{{16}, 3e-5, 0, 1e-8, 2e-10}, 65536);
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
  auto const in_digits = prices_on(group({16, 16}), model, 65536);
  EXPECT_LE(at_once(in_digits), seconds_of(in_digits, {1, 2, 4, 8, 16, 32, 64, 128}) * (1 + 1e-9));
  torus const ring{{200}, 1e-6, 0, 1e-9, 0};
  auto const cyclic = prices_on(group::cyclic(200), ring, 65536),
             dihedral = prices_on(group::dihedral(200), ring, 65536);
  EXPECT_LE(at_once(cyclic), seconds_of(cyclic, {1, 2, 4, 8, 16, 32, 64, 128}) * (1 + 1e-9));
  std::vector<element> swing;
  for (auto const& step : swing_shifts(200)) swing.push_back(step.front());
  EXPECT_LE(at_once(dihedral), seconds_of(dihedral, swing) * (1 + 1e-9));
}

TEST(Search, KnowsWhenMoreStepsCannotHelp) {
  cost_model const model = cost_model::flat(1e-6, 1e-9, 1e-10);
  auto const flat = prices_on(group::cyclic(22), model, 1024);
  auto const found = search_chain(flat, {5, always});
  EXPECT_TRUE(found.for_any_steps);
  EXPECT_EQ(found.best.shifts.size(), 5u);
  // Without latencies the ring is best, whose 21 steps it was not allowed to take.
  auto const ring = prices_on(group::cyclic(22), torus{{22}, 0, 0, 1e-9, 0}, 1024);
  EXPECT_FALSE(search_chain(ring, {.most_steps = 5, .goes_on = always, .most_of_the_field = 5}).for_any_steps);
  auto const own = search_chain(ring, {5, always});
  EXPECT_EQ(own.best.shifts, std::vector<element>(21, 1));
  EXPECT_TRUE(own.for_any_steps);
  EXPECT_TRUE(search_chain(prices_on(group::cyclic(4), torus{{4}, 0, 0, 1e-9, 0}, 1024), {100, always}).for_any_steps);
}

TEST(Search, StopsWhenToldAndTellsTheBestSoFarAndABound) {
  auto const prices = prices_on(group::dihedral(64), torus{{64}, 1e-6, 1e-8, 1e-9, 0}, 65536);
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
  auto const prices = prices_on(group::cyclic(8), torus{{8}, 1e-6, 1e-8, 1e-9, 0}, 65536);
  auto const best = search_chain(prices, {4, always}).best;
  auto const again = search_chain(prices, {4, always, {}, best.seconds});
  EXPECT_TRUE(again.best.shifts.empty());
  EXPECT_EQ(again.proved_steps, 4u);
}

TEST(Search, OfOneRankHasNothingToDo) {
  auto const prices = prices_on(group::cyclic(1), torus{{1}}, 8);
  auto const found = search_chain(prices, {3, always});
  EXPECT_TRUE(found.best.shifts.empty() && found.for_any_steps);
}

/// Whether these and 0 are multiples of one element in a row.
bool are_in_a_row(group const& g, std::set<element> of) {
  of.insert(0);
  for (element s = 1; s < g.order(); ++s) {
    for (element const first : of) {
      std::set<element> row;
      for (element e = first; row.size() < of.size() && row.insert(e).second;) e = g.add(e, s);
      if (row == of) return true;
    }
  }
  return false;
}

/// The least of all lists of at most two steps, with any number of saved steps, as whole schedules.
double least_of_two_steps(group const& g, rank_t radix, cost_model const& model, double bytes) {
  std::vector<std::vector<element>> moves;
  for (std::uint32_t set = 2; set < std::uint32_t{1} << g.order(); set += 2) {
    std::vector<element> shifts;
    for (element e = 1; e < g.order(); ++e)
      if ((set >> e & 1) != 0) shifts.push_back(e);
    if (shifts.size() < radix && are_in_a_row(g, {shifts.begin(), shifts.end()})) moves.push_back(shifts);
  }
  double least = none;
  auto const look_at = [&](shift_list const& steps) {
    try {
      auto const made = covering_chain(g, steps);
      for (std::uint32_t saved = 0; saved <= made.size(); ++saved)
        least = std::min(least, counts(expand(fold(g, made, made, saved)), model).seconds(bytes));
    } catch (schedule_error const&) {
    }
  };
  for (auto const& first : moves) {
    look_at({first});
    for (auto const& second : moves) look_at({first, second});
  }
  return least;
}

TEST(WideSearch, FindsWhatAllListsConfirm) {
  for (rank_t const ranks : {4u, 5u, 6u, 7u})
    for (group const& g : small_groups(ranks))
      for (rank_t const radix : {3u, 4u})
        for (double const bytes : {64.0, 65536.0}) {
          auto const model = two_levels(2);
          auto const prices = prices_on(g, model, bytes);
          auto const found =
              search_wide(prices, {.most_steps = 2, .most_radix = radix, .saves_steps = true, .goes_on = always});
          EXPECT_TRUE(found.is_proved);
          // Moves may be listed in another order, so that several shifts share what is sent in another way.
          EXPECT_NEAR(found.best.seconds / least_of_two_steps(g, radix, model, bytes), 1, 0.02)
              << ranks << " " << radix;
        }
}

TEST(WideSearch, TakesFullFoldsWhereRoundsAreDear) {
  auto const model = two_levels(4);
  auto const prices = prices_on(group({4, 4}), model, 65536);
  auto const single = search_chain(prices, {4, always}).best.seconds;
  int asked = 0;
  auto const found = search_wide(prices, {.most_steps = 2, .most_radix = 4, .goes_on = [&] { return ++asked < 200; }});
  EXPECT_LT(found.best.seconds, single);
  auto const product = counts(testing::schedule_of("product(dims=4x4)", 16), model);
  EXPECT_LE(found.best.seconds, product.seconds(65536) * (1 + 1e-9));
}

TEST(WideSearch, SavesStepsOfShortVectors) {
  auto const model = cost_model::flat(1e-5, 1e-9, 1e-10);
  auto const prices = prices_on(group::cyclic(16), model, 16);
  auto const found =
      search_wide(prices, {.most_steps = 4, .saves_steps = true, .goes_on = [n = 0]() mutable { return ++n < 200; }});
  EXPECT_EQ(found.best.saved_steps, 4u);
  auto const made = covering_chain(prices.ranks(), found.best.steps);
  EXPECT_NEAR(found.best.seconds, prices.seconds(expand(fold(prices.ranks(), made, made, 4))), 1e-12);
  EXPECT_TRUE(search_wide(prices, {.most_steps = 4, .goes_on = [] { return false; }}).best.steps.empty());
}

}  // namespace
}  // namespace coset::schedule
