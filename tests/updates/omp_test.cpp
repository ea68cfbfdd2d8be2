// SPDX-License-Identifier: Apache-2.0
// Loops of updates by OpenMP's threads.
#include "coset/omp.hpp"

#include <atomic>

#include "updates/interfaces.hpp"

namespace coset::updates_test {
namespace {

TEST(OmpUpdates, OutsideOfRegionsEqualThePlainLoop) {
  for (int const threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    expect_interface([](auto&& target, auto const& keys, auto const& values, auto const& op,
                        scatter_options const& options) { omp::scatter_add(target, keys, values, op, options); });
  }
}

/// Every thread throws: that of thread 0 leaves the region.
template <class Body>
void in_region(int threads, Body const& body) {
  std::exception_ptr thrown;
  std::atomic<int> number = 0, present = 0;
#pragma omp parallel num_threads(threads)
  try {
    present = omp_get_num_threads();
    body();
  } catch (...) {
    ++number;
#pragma omp critical
    thrown = std::current_exception();
  }
  if (!thrown) return;
  EXPECT_EQ(number, present) << "some threads threw, others did not";
  std::rethrow_exception(thrown);
}

TEST(OmpUpdates, InsideOfRegionsEqualThePlainLoop) {
  for (int const threads : {1, 2, 5})
    expect_interface(
        [threads](auto&& target, auto const& keys, auto const& values, auto const& op, scatter_options const& options) {
          in_region(threads, [&] { omp::scatter_add(target, keys, values, op, options); });
        });
}

TEST(OmpUpdates, FollowEachOtherInOneRegion) {
  std::vector<std::int64_t> counts(100), sums(100);
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 50; ++round) {
    omp::scatter_add(counts, 100, [](std::size_t i) { return i; }, one_each, plus(), {.by = way::partition});
    // It ends with a barrier: all threads see what it has done.
    omp::scatter_add(
        sums, 100, [](std::size_t i) { return i; }, [&](std::size_t i) { return counts[i]; }, plus(),
        {.by = way::private_copies});
  }
  EXPECT_EQ(counts, std::vector<std::int64_t>(100, 50));
  EXPECT_EQ(sums, std::vector<std::int64_t>(100, 50 * 51 / 2));
}

TEST(OmpUpdates, InNestedRegionsAreSharedByTheInnermost) {
  omp_set_max_active_levels(2);
  std::vector<std::vector<std::int64_t>> arrays(2, std::vector<std::int64_t>(100));
  updates<std::int64_t> const loop(100, 5000);
  for (way const by : every_way) {
    for (auto& each : arrays) each = loop.start;
#pragma omp parallel num_threads(2)
    {
      auto& mine = arrays[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp parallel num_threads(3)
      omp::scatter_add(mine, loop.keys, loop.values, plus(), {.by = by});
    }
    for (auto const& each : arrays)
      EXPECT_EQ(each, omp_get_max_threads() > 0 ? loop.by_plain_loop(plus()) : each) << by;
  }
  omp_set_max_active_levels(1);
  // Where nothing may be nested, the inner region has one thread.
  for (auto& each : arrays) each = loop.start;
#pragma omp parallel num_threads(2)
  {
    auto& mine = arrays[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp parallel num_threads(3)
    omp::scatter_add(mine, loop.keys, loop.values);
  }
  for (auto const& each : arrays) EXPECT_EQ(each, loop.by_plain_loop(plus()));
}

/// Red if a share is left undone where a region has fewer threads than were planned.
TEST(OmpUpdates, WithFewerThreadsThanPlannedAreAllDone) {
  updates<double> const loop(1000, 20'000);
  auto const expected = loop.by_plain_loop(plus());
  omp_set_num_threads(16);
  omp_set_dynamic(1);
  for (way const by : every_way) {
    auto got = loop.start;
    omp::scatter_add(got, loop.keys, loop.values, plus(), {.by = by});
    EXPECT_EQ(first_difference(got, expected, is_serial(by)), got.size()) << by;
  }
  omp_set_dynamic(0);
  omp_set_num_threads(2);
}

/// Bits depend on how many threads were asked for, not on how many came.
TEST(OmpUpdates, HaveTheSameBitsWithFewerThreadsThanPlanned) {
  updates<float> const loop(1000, 20'000);
  omp_set_num_threads(8);
  std::vector<float> with_all = loop.start, with_fewer = loop.start;
  omp::scatter_add(with_all, loop.keys, loop.values, plus(), {.by = way::private_copies});
  omp_set_dynamic(1);
  omp::scatter_add(with_fewer, loop.keys, loop.values, plus(), {.by = way::private_copies});
  omp_set_dynamic(0);
  omp_set_num_threads(2);
  EXPECT_EQ(first_difference(with_fewer, with_all, true), with_all.size());
}

}  // namespace
}  // namespace coset::updates_test
