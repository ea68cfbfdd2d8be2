// SPDX-License-Identifier: Apache-2.0
// Loops of updates by oneTBB's tasks.
#include "coset/tbb.hpp"

#include <atomic>

#include "updates/interfaces.hpp"

namespace coset::updates_test {
namespace {

TEST(TbbUpdates, EqualThePlainLoop) {
  for (int const threads : {1, 2, 5}) {
    ::tbb::task_arena arena(threads);
    arena.execute([] {
      expect_interface([](auto&& target, auto const& keys, auto const& values, auto const& op,
                          scatter_options const& options) { tbb::scatter_add(target, keys, values, op, options); });
    });
  }
}

TEST(TbbUpdates, OfSeveralTasksRunAtOnce) {
  updates<double> const loop(1000, 10'000);
  std::vector<std::vector<double>> arrays(8, loop.start);
  ::tbb::parallel_for(std::size_t{0}, arrays.size(), [&](std::size_t k) {
    tbb::scatter_add(arrays[k], loop.keys, loop.values, plus(), {.by = every_way[k % 6], .required = bits::per_rank});
  });
  auto const expected = loop.by_plain_loop(plus());
  for (std::size_t k = 0; k < arrays.size(); ++k)
    EXPECT_EQ(first_difference(arrays[k], expected, is_serial(every_way[k % 6])), expected.size()) << k;
}

/// Red if a thread that waits for the call's tasks takes another iteration of the loop around it.
TEST(TbbUpdates, LetNoTaskOfALoopAroundThemIn) {
  ::tbb::task_arena arena(4);
  static thread_local int inside = 0;
  std::atomic<int> nested = 0;
  updates<double> const loop(20'000, 40'000);
  arena.execute([&] {
    ::tbb::parallel_for(
        0, 100,
        [&](int) {
          nested += inside > 0 ? 1 : 0;
          ++inside;
          std::vector<double> own = loop.start;
          tbb::scatter_add(own, loop.keys, loop.values, plus(), {.by = way::partition});
          --inside;
        },
        ::tbb::simple_partitioner());
  });
  EXPECT_EQ(nested, 0);
}

/// Red if a half-done loop is left behind.
TEST(TbbUpdates, AreDoneWholeWhereTheCallersTasksAreCancelled) {
  std::vector<std::int64_t> counts(100);
  ::tbb::task_group_context context;
  ::tbb::parallel_for(
      0, 1,
      [&](int) {
        context.cancel_group_execution();
        tbb::scatter_add(counts, 10'000, [](std::size_t i) { return i % 100; }, one_each, plus(),
                         {.by = way::partition});
      },
      ::tbb::simple_partitioner(), context);
  EXPECT_EQ(counts, std::vector<std::int64_t>(100, 100));
}

}  // namespace
}  // namespace coset::updates_test
