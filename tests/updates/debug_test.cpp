// SPDX-License-Identifier: Apache-2.0
// Keys out of range, which debug builds find. This is one.
#include <array>

#include "updates/view.hpp"

#ifdef NDEBUG
#error "keys are looked at without NDEBUG only"
#endif

namespace coset::updates_test {
namespace {

template <class Call>
std::string said_by(Call const& call) {
  try {
    call();
  } catch (argument_error const& refused) {
    return refused.what();
  }
  return "nothing is refused";
}

TEST(KeysOutOfRange, AreNamedInEveryWay) {
  team two({.ranks = 2, .place = placement::unbound});
  std::vector<double> array(100);
  for (way const by : every_way)
    for (auto const& [wrong, name] : {std::pair{100, "100"}, std::pair{-1, "-1"}}) {
      std::vector<int> keys(9000, 5);
      keys[7777] = wrong;
      EXPECT_EQ(said_by([&] { scatter_add(two, array, keys, one_each, plus(), {.by = by}); }),
                std::string("iteration 7777 updates element ") + name + " of 100")
          << by;
    }
  scatter_add(two, array, std::array{99, 0});
  EXPECT_EQ(array[99], 1);
}

TEST(KeysOutOfRange, AreFoundInEachDimension) {
  team two({.ranks = 2, .place = placement::unbound});
  std::vector<float> cells(6 * 8);
  columns const field(cells.data(), {6, 8});
  std::vector<std::array<int, 2>> const beside{{1, 1}, {7, 1}}, before{{5, -2}};
  // (7, 1) has a place in the memory of the view, but not in the view.
  EXPECT_EQ(said_by([&] { scatter_add(two, field, beside); }), "iteration 1 updates element 7 of 6 in dimension 0");
  EXPECT_EQ(said_by([&] { scatter_add(two, field, before); }), "iteration 0 updates element -2 of 8 in dimension 1");
}

TEST(KeysOutOfRange, AreToldToAllRanks) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<double> array(100);
  std::vector<std::string> said(3);
  for (way const by : every_way) {
    three.run([&](member& me) {
      std::vector<int> const keys(500, me.rank() == 1 ? 101 : 7);
      said[me.rank()] = said_by([&] { scatter_add(me, array, keys, one_each, plus(), {.by = by}); });
    });
    for (std::string const& each : said) EXPECT_NE(each.find("updates element 101 of 100"), std::string::npos) << each;
  }
}

}  // namespace
}  // namespace coset::updates_test
