// SPDX-License-Identifier: Apache-2.0
// Reducers of several things at once.
#include <array>
#include <atomic>
#include <numeric>
#include <tuple>

#include "coset/reducers/joint_reducer.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

/// Everything that combines, for several things at once: a thread alone, parts by anybody, a team, its ranks.
TEST(JointReducer, IsCombinedByWhoeverThereIs) {
  std::vector<float> rows(3000, 1), expected_rows = rows;
  std::array<std::uint8_t, 3> flags{}, expected_flags{};
  long count = 5, expected_count = 5;
  joint_reducer sums(rows, into(flags, bit_or{}), count);
  team three({.ranks = 3, .place = placement::unbound});
  auto const update = [](auto mine, std::uint32_t t) {
    auto [r, f, c] = mine;
    for (std::size_t i = t; i < r.size(); i += 3) r[i] += static_cast<float>(t + 1);
    f[t] = static_cast<std::uint8_t>(f[t] | 1u << t);
    c += t;
  };
  for (int way = 0; way < 6; ++way) {
    bool const assigns = way == 4;
    if (assigns) expected_rows.assign(3000, 0), expected_flags = {}, expected_count = 0;
    for (std::size_t i = 0; i < 3000; ++i) expected_rows[i] += static_cast<float>(i % 3 + 1);
    for (std::uint32_t t = 0; t < 3; ++t) expected_flags[t] = static_cast<std::uint8_t>(expected_flags[t] | 1u << t);
    expected_count += 3;
    if (way == 3 || way == 4) {
      three.run([&](member& me) {
        update(sums.local(me), me.rank());
        sums.combine(me, assigns ? combining::assign : combining::add);
      });
    } else {
      on_threads(3, [&](std::uint32_t t) { update(sums.local(), t); });
      if (way == 0) sums.combine();
      if (way == 1) sums.combine(three);
      for (std::size_t part = 0; way == 2 && part < 5; ++part) sums.combine_part(part, 5);
      if (way == 5) {
        std::vector<float> others(3000, 7);
        std::array<std::uint8_t, 3> other_flags{};
        long other_count = 0;
        sums.combine_into(others, other_flags, other_count);
        EXPECT_EQ(others[3], 8);
        EXPECT_EQ(other_flags[2], 4);
        EXPECT_EQ(other_count, 3);
        continue;
      }
    }
    ASSERT_EQ(rows, expected_rows) << way;
    ASSERT_EQ(flags, expected_flags) << way;
    ASSERT_EQ(count, expected_count) << way;
  }
}

TEST(JointReducer, OfAnotherLengthIsRefusedOnAllRanks) {
  std::vector<int> first(10), second(20);
  joint_reducer sums(first, second);
  second.resize(21);
  EXPECT_THROW(sums.combine(), argument_error);
  team three({.ranks = 3, .place = placement::unbound});
  std::atomic<int> told = 0;
  three.run([&](member& me) {
    try {
      sums.combine(me);
    } catch (argument_error const& e) {
      told += std::string(e.what()).find("20 elements and an array of 21") != std::string::npos;
    }
  });
  EXPECT_EQ(told, 3);
  sums.fit();
  auto [one, two] = sums.local();
  EXPECT_EQ(two.size(), 21u);
  one[1] += 1;
  two[20] += 2;
  sums.combine();
  EXPECT_EQ(first[1], 1);
  EXPECT_EQ(second[20], 2);
}

}  // namespace
}  // namespace coset::reducer_test
