// SPDX-License-Identifier: Apache-2.0
// Costs planted in prices of calls are found again, whatever errors calls have, and what calls do not show stays.
#include "command/measure/fits/fitted_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace coset::calibration {
namespace {

constexpr std::size_t known = costs_by_name.size() - 1;  // no call has the last one

/// Each call pays some of the costs some hundred times, as calls of various lengths do.
std::vector<priced_call> calls_at(memory_costs const& costs, double noise) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<priced_call> calls(120);
  for (priced_call& c : calls) {
    c.constant = c.measured = 20e-9;
    for (std::size_t k = 0; k < known; ++k) {
      double const unit = memory_costs{}.*costs_by_name[k].value;
      c.factor[k] = part(random) < 0.3 ? part(random) * 1e-6 / unit : 0;
      c.measured += c.factor[k] * costs.*costs_by_name[k].value;
    }
    c.measured *= 1 + noise * (2 * part(random) - 1);
  }
  return calls;
}

memory_costs planted() {
  memory_costs costs;
  for (std::size_t k = 0; k < known; ++k) costs.*costs_by_name[k].value *= k % 3 == 0 ? 0.4 : k % 3 == 1 ? 1 : 3;
  return costs;
}

TEST(MemoryCosts, ArePlantedAndFound) {
  for (double const noise : {0.0, 0.2}) {
    auto const found = fitted_costs(calls_at(planted(), noise));
    for (std::size_t k = 0; k < known; ++k) {
      auto const& [name, value] = costs_by_name[k];
      EXPECT_NEAR(found.*value / planted().*value, 1, noise == 0 ? 0.05 : 0.35) << name << ", noise " << noise;
    }
  }
}

TEST(MemoryCosts, ThatNoCallShowsStayAsTheyAre) {
  EXPECT_EQ(fitted_costs({}), memory_costs{});
  auto const found = fitted_costs(calls_at(planted(), 0));
  EXPECT_DOUBLE_EQ(found.*costs_by_name[known].value, memory_costs{}.*costs_by_name[known].value);
}

/// Red if one call that was interrupted moves them far, or one that took no time makes them none.
TEST(MemoryCosts, OutlastCallsThatWereInterrupted) {
  auto calls = calls_at(planted(), 0);
  for (std::size_t i = 0; i < calls.size(); i += 20) calls[i].measured *= 1000;
  calls[1].measured = 0;
  auto const found = fitted_costs(calls);
  for (std::size_t k = 0; k < known; ++k)
    EXPECT_NEAR(std::log(found.*costs_by_name[k].value / planted().*costs_by_name[k].value), 0, 0.7)
        << costs_by_name[k].name;
}

/// Red if what seems free is: a store into others' lines is so only until a virtual machine moves its cores.
TEST(MemoryCosts, AreNeverNothing) {
  memory_costs free;
  for (auto const& each : costs_by_name) free.*each.value = 0;
  auto const found = fitted_costs(calls_at(free, 0));
  for (std::size_t k = 0; k < known; ++k)
    EXPECT_GE(found.*costs_by_name[k].value, 0.0999 * memory_costs{}.*costs_by_name[k].value) << costs_by_name[k].name;
}

}  // namespace
}  // namespace coset::calibration
