// SPDX-License-Identifier: Apache-2.0
// A reducer has one floating-point mode, its maker's: whoever folds copies does it in that one, and keeps its own.
#include <thread>
#include <vector>

#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "floating_point.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

using test::in_mode;
using test::mode;

constexpr std::size_t length = 3'000;
constexpr mode makers{FE_UPWARD, false, false};
constexpr double rounded_up = 1 + 0x1p-52;

/// In this mode, and leaves the thread's control words as they were.
template <class Body>
void in(mode const& own, Body&& body) {
  in_mode const here(own);
  auto const before = test::control_of_this_thread();
  body();
  EXPECT_EQ(test::control_of_this_thread(), before) << own.text();
}

/// This thread and another add 1 and 2⁻⁶⁰ everywhere.
template <class Reducer>
void add(Reducer& to) {
  auto const add_all = [&](double value) {
    auto const mine = to.local();
    for (std::size_t i = 0; i < length; ++i) mine[i] += value;
  };
  add_all(1);
  std::thread(add_all, 0x1p-60).join();
}

void expect_rounded_up(std::vector<double> const& got, char const* what, mode const& own) {
  EXPECT_EQ(got, std::vector<double>(length, rounded_up)) << what << " in " << own.text();
}

TEST(ReducerModes, AreTheMakersWhoeverFolds) {
  for (mode const& own : test::modes()) {
    makers.set();
    reducer<double> dense(length);
    sparse_reducer<double> sparse(length, sparse_options{.block_bytes = 64});
    reducer<double, reproducible_plus> reproducible(length);
    test::usual_mode.set();
    std::vector<double> got(length);
    add(dense);
    in(own, [&] { dense.combine_into(got); });
    expect_rounded_up(got, "dense", own);
    add(dense);
    in(own, [&] { got = {dense.view().begin(), dense.view().end()}; });
    expect_rounded_up(got, "a view", own);
    got.assign(length, 0);
    add(sparse);
    for (std::size_t part : {0u, 1u})
      in(part == 0 ? own : test::usual_mode, [&] { sparse.combine_part(got, part, 2); });
    expect_rounded_up(got, "sparse", own);
    got.assign(length, 0);
    add(reproducible);
    in(own, [&] { reproducible.combine_into(got); });
    expect_rounded_up(got, "reproducible", own);
  }
}

/// Of what is folded early, too, where memory is capped: 1 from one thread, 2⁻⁶⁰ from the next.
TEST(ReducerModes, OfCopiesThatAreFoldedEarly) {
  std::size_t const large = 1 << 20;
  makers.set();
  sparse_reducer<double> capped(large, sparse_options{.block_bytes = 4096, .most_bytes = 1});
  test::usual_mode.set();
  for (double const value : {1.0, 0x1p-60}) {
    std::thread([&] {
      in(test::usual_mode, [&] {
        auto const mine = capped.local();
        for (std::size_t i = 0; i < large; ++i) mine[i] += value;
      });
    }).join();
  }
  auto const view = capped.view();
  EXPECT_EQ(*std::ranges::min_element(view), rounded_up);
  EXPECT_EQ(*std::ranges::max_element(view), rounded_up);
}

/// By ranks, which fold in turns or by slices.
TEST(ReducerModes, AreTheMakersWhereRanksCombine) {
  for (rank_t const ranks : {2u, 3u}) {
    for (auto const how : {combining::add, combining::assign}) {
      makers.set();
      reducer<double> sums(length);
      test::usual_mode.set();
      team all({.ranks = ranks, .place = placement::unbound});
      std::vector<double> got(length, 0);
      all.run([&](member& me) {
        auto const mine = sums.local(me);
        for (std::size_t i = 0; i < length; ++i) mine[i] += me.rank() == 0 ? 1.0 : me.rank() == 1 ? 0x1p-60 : 0;
        in(me.rank() == 1 ? mode{FE_DOWNWARD, true, true} : test::usual_mode, [&] { sums.combine_into(got, me, how); });
      });
      expect_rounded_up(got, "by ranks", test::usual_mode);
    }
  }
}

}  // namespace
}  // namespace coset::reducer_test
