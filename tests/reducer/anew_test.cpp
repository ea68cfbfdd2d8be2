// SPDX-License-Identifier: Apache-2.0
// Reducers that are made for one loop, with what those before them left.
#include <algorithm>
#include <fstream>
#include <string>

#include "coset/reducers/joint_reducer.hpp"
#include "effort.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

/// Red if copies of a reducer before count: they hold what was never combined, and are of threads that are not here.
TEST(ReducersMadeAnew, HoldNothingOfThoseBefore) {
  for (std::size_t const n : {1u, 1000u, 100'000u}) {
    {
      reducer<double> before(n);
      for (std::uint32_t number : {0u, 1u, 2u, 7u}) std::ranges::fill(before.local(number), 3.0);
      std::ranges::fill(before.local(), 4.0);
    }
    std::vector<double> sum(n, 1);
    reducer<double> after(n);
    EXPECT_NE(after.describe().find(": 0 private copies"), std::string::npos) << after.describe();
    after.combine_into(sum);
    EXPECT_EQ(sum, std::vector<double>(n, 1));
    after.local()[n - 1] += 2;
    after.local(1)[n - 1] += 3;
    after.local(9)[n - 1] += 4;
    after.combine_into(sum);
    EXPECT_EQ(sum[n - 1], 10);
    EXPECT_EQ(std::count(sum.begin(), sum.end(), 1.0), static_cast<std::ptrdiff_t>(n - 1));
    EXPECT_NE(after.describe().find(": 3 private copies"), std::string::npos) << after.describe();
  }
}

/// The same memory, seen as other things with other identities.
TEST(ReducersMadeAnew, HaveIdentitiesOfTheirOwn) {
  for (int round = 0; round < 3; ++round) {
    std::vector<double> sum(500);
    reducer<double> adds(500);
    adds.local(0)[3] += 1;
    adds.local(1)[3] += 1;
    adds.combine_into(sum);
    EXPECT_EQ(sum[3], 2);
    EXPECT_EQ(sum[4], 0);
  }
  std::vector<float> least(1000, 5);
  reducer<float, minimum> smallest(1000);
  smallest.local(1)[3] = 2;
  smallest.combine_into(least);
  EXPECT_EQ(least[3], 2);
  EXPECT_EQ(least[4], 5);
}

/// Ranks fold in rounds if each has the copy of its number and nothing else counts: what stays of larger teams does not.
TEST(ReducersMadeAnew, ServeSmallerTeamsAfterLarger) {
  std::size_t const n = 50'000;
  for (rank_t const ranks : {5u, 2u, 3u, 1u, 5u}) {
    team all({.ranks = ranks, .place = placement::unbound});
    std::vector<int> sum(n, 1);
    reducer<int> each(n);
    all.run([&](member& me) {
      for (int round = 0; round < 3; ++round) {
        for (int& element : each.local(me)) element += 1;
        each.combine_into(sum, me);
      }
    });
    EXPECT_EQ(sum, std::vector<int>(n, 1 + 3 * static_cast<int>(ranks))) << ranks << " ranks";
  }
}

/// Red if each of many reducers keeps as many copies as the largest before it had.
TEST(ReducersMadeAnew, LeaveToOthersWhatNobodyAsksFor) {
  std::size_t const n = 70'000;  // of a size that no other test has
  std::vector<float> sum(n);
  float const* seventh = nullptr;
  {
    reducer<float> wide(n);
    for (std::uint32_t number = 0; number < 8; ++number) wide.local(number)[0] += 1;
    seventh = wide.local(7).data();
    wide.combine_into(sum);
  }
  reducer<float> narrow(n), other(n);
  narrow.local(0)[0] += 1;
  narrow.combine_into(sum);
  EXPECT_EQ(other.local(7).data(), seventh);
  narrow.local(7)[0] += 1;
  narrow.combine_into(sum);
  EXPECT_EQ(sum[0], 10);
}

/// Any number of them at once, made and given up by threads that know nothing of each other.
TEST(ReducersMadeAnew, ByManyThreadsDoNotMeet) {
  on_threads(4, [](std::uint32_t t) {
    for (int k = 0; k < test::by_effort(100, 500, 5000); ++k) {
      std::size_t const n = 100 + (t + static_cast<std::uint32_t>(k)) % 3;
      reducer<long> mine(n);
      mine.local()[n - 1] += t;
      mine.local(t)[n - 1] += k;
      std::vector<long> sum(n);
      if (k % 3 != 0) mine.combine_into(sum);
      ASSERT_EQ(sum[n - 1], k % 3 != 0 ? k + static_cast<long>(t) : 0);
    }
  });
}

std::size_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) * 1024;
  return 0;
}

/// Red if memory of sizes that nobody asks for again is kept for ever.
TEST(ReducersMadeAnew, OfEverNewSizesKeepNoMoreThanTheyMay) {
  std::size_t const before = resident_bytes(), step = std::size_t{9} << 20;
  if (before == 0) GTEST_SKIP() << "no /proc/self/status";
  if (test::is_sanitized) GTEST_SKIP() << "sanitizers keep memory about memory, for as long as they like";
  std::size_t asked_for = 0;
  for (std::size_t k = 1; k <= 12; ++k) {
    reducer<char> mine(k * step);
    std::ranges::fill(mine.local(0), char{1});
    if (k % 3 == 0) std::ranges::fill(mine.local(1), char{1});
    asked_for += mine.size() * (k % 3 == 0 ? 2 : 1);
  }
  std::size_t const most = std::size_t{256} << 20;
  ASSERT_GT(asked_for, 3 * most);
  EXPECT_LT(resident_bytes(), before + most + (std::size_t{64} << 20));
}

}  // namespace
}  // namespace coset::reducer_test
