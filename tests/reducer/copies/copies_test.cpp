// SPDX-License-Identifier: Apache-2.0
// Which copies there are, whose they are, and how arrays lie in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

#include "coset/error.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "numa/memory.hpp"
#include "reducer/copies/erased.hpp"

namespace coset::reducer_test {
namespace {

using detail::private_copy;

template <class Body>
void on_another_thread(Body body) {
  std::jthread thread(body);
}

/// No key is ever that of another reducer, however often claims are renewed.
TEST(ReducerClaims, HaveKeysThatNobodyElseHas) {
  core_pointer const core = detail::make_reducer({sums_of<int>(10)});
  core_pointer const next = detail::make_reducer({sums_of<int>(10)});
  std::uint64_t const before = detail::key_of(*core), of_next = detail::key_of(*next);
  EXPECT_NE(before, of_next);
  std::vector<std::uint64_t> keys{before};
  for (std::uint32_t k = 0; k < (1u << detail::key_bits_of_claims) + 10; ++k) {
    core->reset();
    keys.push_back(detail::key_of(*core));
  }
  EXPECT_EQ(std::count(keys.begin(), keys.end(), of_next), 0);
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
  core_pointer const last = detail::make_reducer({sums_of<int>(10)});
  EXPECT_GT(detail::key_of(*last), keys.back());
}

TEST(ReducerClaims, AreForgottenWhenReset) {
  core_pointer const core = detail::make_reducer({sums_of<int>(10)});
  private_copy* const mine = &detail::copy_claimed(*core, 0);
  std::uint64_t const generation = core->generation();
  core->reset();
  EXPECT_NE(core->generation(), generation);
  on_another_thread([&] { EXPECT_EQ(mine, &detail::copy_claimed(*core, 0)); });
}

TEST(ReducerCopies, AreFoldedInTheOrderOfTheirNumbersThenOfTheirThreads) {
  core_pointer const core = detail::make_reducer({sums_of<int>(10)});
  EXPECT_FALSE(detail::has_copies(*core));
  private_copy* const own = &detail::copy_of_this_thread(*core);
  EXPECT_TRUE(detail::has_copies(*core));
  private_copy* const seven = &detail::copy_numbered(*core, 7);
  private_copy* const two = &detail::copy_numbered(*core, 2);
  private_copy* other = nullptr;
  on_another_thread([&] { other = &detail::copy_of_this_thread(*core); });
  private_copy* const total = &detail::total_of(*core);
  std::vector<private_copy*> const order(core->in_order().begin(), core->in_order().end());
  EXPECT_EQ(order, (std::vector<private_copy*>{total, two, seven, own, other}));
}

/// Rounds want a copy of each thread's number and nothing else: they fold that alone.
TEST(ReducerCopies, AreJustThoseOfSomeThreadsOrNot) {
  core_pointer const core = detail::make_reducer({sums_of<int>(10)});
  auto const may_fold_round = [](core_pointer const& of, std::size_t threads) {
    return detail::should_fold_round(*of, threads, combining::add);
  };
  for (std::uint32_t const number : {0u, 1u, 3u}) detail::copy_numbered(*core, number);
  EXPECT_FALSE(may_fold_round(core, 3));
  EXPECT_FALSE(may_fold_round(core, 4));
  detail::copy_numbered(*core, 2);
  EXPECT_FALSE(may_fold_round(core, 3));
  EXPECT_TRUE(may_fold_round(core, 4));
  EXPECT_FALSE(may_fold_round(core, 5));
  detail::copy_of_this_thread(*core);
  EXPECT_FALSE(may_fold_round(core, 4));

  core_pointer const viewed = detail::make_reducer({sums_of<int>(10)});
  detail::copy_numbered(*viewed, 0);
  EXPECT_TRUE(may_fold_round(viewed, 1));
  detail::total_of(*viewed);
  EXPECT_FALSE(may_fold_round(viewed, 1));

  core_pointer const sparse = detail::make_sparse_reducer(sums_of<int>(10), {});
  detail::copy_numbered(*sparse, 0);
  EXPECT_FALSE(may_fold_round(sparse, 1));
  core_pointer const rounds_once = detail::make_reducer({sums_of<int>(5), sums_of<double, reproducible_plus>(10)});
  detail::copy_numbered(*rounds_once, 0);
  EXPECT_FALSE(may_fold_round(rounds_once, 1));
}

/// What types forbid, too, where there are types.
TEST(ReducerCopies, AreNotFoldedByWhatDoesNotCommute) {
  detail::reduced_array array = sums_of<int>(10);
  detail::reduction_table ordered = *array.reduction;
  ordered.commutative = false;
  array.reduction = &ordered;
  EXPECT_THROW(detail::make_reducer({array}), argument_error);
}

TEST(ReducerCopies, MayBeAsLargeAsPointersReach) {
  std::size_t const most = std::numeric_limits<std::ptrdiff_t>::max() / 2 / sizeof(double);
  EXPECT_EQ(reducer<double>(most).size(), most);
  EXPECT_THROW(reducer<double>(most + 1), argument_error);
  EXPECT_THROW((void)reducer<double>(std::numeric_limits<std::size_t>::max()), argument_error);
  EXPECT_THROW(sparse_reducer<double>(most + 1), argument_error);
  for (std::size_t arrays = 2; arrays <= 6; ++arrays) {
    std::vector<detail::reduced_array> all(arrays, sums_of<double>(most));
    EXPECT_THROW(detail::make_reducer(all), argument_error) << arrays;
    for (auto& each : all) each.count /= arrays;
    EXPECT_NO_THROW(detail::make_reducer(all)) << arrays;
  }
}

/// Far from the beginning, the end and each other. Red if forgetting them touches more than they are.
TEST(SparseBlocks, OfAHugeArrayCostNoMemoryUntilTheyAreTouched) {
  std::size_t const n = std::size_t{1} << 27, huge_page = std::size_t{2} << 20;  // 1 GiB of virtual memory
  std::size_t const at[] = {n / 4, n / 2 + 64, n - 1};
  sparse_reducer<double> sum(n, {.by = way::private_copies});
  std::byte const* const data = detail::copy_numbered(sum.core(), 0).data;
  auto const expect_little = [&] {
    EXPECT_LE(resident_pages(data, n * sizeof(double)), std::size(at) * huge_page / numa::page_bytes());
  };
  for (std::size_t const where : at) sum.local(0)[where] += 1;
  expect_little();
  for (int round = 0; round < 2; ++round) {
    sum.reset();
    auto const mine = sum.local(0);
    expect_little();
    for (std::size_t const where : at) EXPECT_EQ(mine.span(where, 1)[0], 0);
    for (std::size_t const where : at) mine[where] += 3;
  }
}

TEST(Reducer, SaysWhatEachOfItsArraysIs) {
  core_pointer const core = detail::make_reducer({sums_of<float>(1000), sums_of<int>(3)});
  detail::copy_numbered(*core, 2);
  EXPECT_EQ(detail::describe(*core),
            "reducer of 1000 float, coset::plus; 3 int, coset::plus: 1 private copies that are folded whole");
}

}  // namespace
}  // namespace coset::reducer_test
