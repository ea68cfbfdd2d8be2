// SPDX-License-Identifier: Apache-2.0
// Arenas on NUMA nodes. What a machine of several would have is made of several arenas on whatever there is.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "coset/tbb.hpp"
#include "reducer/updates.hpp"

namespace coset::tbb_test {
namespace {

using constraints = tbb::arenas::constraints;

constraints threads(int number) { return constraints{}.set_max_concurrency(number); }

TEST(TbbArenas, AreOneForEachNode) {
  tbb::arenas nodes;
  EXPECT_EQ(nodes.size(), ::tbb::info::numa_nodes().size());
  EXPECT_GE(nodes.concurrency(), nodes.size());
}

TEST(TbbArenas, AreOneAtLeast) { EXPECT_THROW(tbb::arenas(std::vector<constraints>()), argument_error); }

TEST(TbbArenas, RunABodyInsideEach) {
  tbb::arenas nodes({threads(1), threads(3), threads(2)});
  for (int round = 0; round < 100; ++round) {
    std::vector<int> found(3);
    nodes.run([&](std::size_t k) { found[k] += ::tbb::this_task_arena::max_concurrency(); });
    ASSERT_EQ(found, (std::vector{1, 3, 2}));
  }
}

TEST(TbbArenas, ShareByThreads) {
  tbb::arenas nodes({threads(1), threads(3), threads(2)});
  EXPECT_EQ(nodes.concurrency(), 6u);
  using range = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(nodes.share(0, 12), range(0, 2));
  EXPECT_EQ(nodes.share(1, 12), range(2, 8));
  EXPECT_EQ(nodes.share(2, 12), range(8, 12));
  EXPECT_EQ(nodes.share(2, SIZE_MAX).second, SIZE_MAX);
  for (std::size_t count = 0; count < 20; ++count) {
    EXPECT_EQ(nodes.share(0, count).first, 0u);
    EXPECT_EQ(nodes.share(0, count).second, nodes.share(1, count).first);
    EXPECT_EQ(nodes.share(1, count).second, nodes.share(2, count).first);
    EXPECT_EQ(nodes.share(2, count).second, count);
  }
}

TEST(TbbArenas, GoThroughARangeOnceInOneStretchEach) {
  tbb::arenas nodes({threads(1), threads(3)});
  for (int const size : {0, 1, 3, 4, 1000}) {
    std::vector<std::atomic<int>> arena(static_cast<std::size_t>(size));
    nodes.parallel_for(::tbb::blocked_range<int>(-5, size - 5), [&](::tbb::blocked_range<int> const& part) {
      for (int i = part.begin(); i != part.end(); ++i)
        arena[static_cast<std::size_t>(i + 5)] += ::tbb::this_task_arena::max_concurrency();
    });
    for (int i = 0; i < size; ++i) EXPECT_EQ(arena[static_cast<std::size_t>(i)], i < size / 4 ? 1 : 3) << i;
  }
}

TEST(TbbArenas, RethrowWhenAllHaveEnded) {
  tbb::arenas nodes({threads(1), threads(1), threads(1)});
  for (std::size_t who = 0; who < 3; ++who) {
    std::atomic<int> ended = 0;
    auto const run = [&] {
      nodes.run([&](std::size_t k) {
        if (k == who) throw std::domain_error("told so");
        ++ended;
      });
    };
    EXPECT_THROW(run(), std::domain_error);
    EXPECT_EQ(ended, 2);
  }
}

/// Updates in loops over the nodes, folded by the threads of the nodes.
void expect_reducer_right(tbb::arenas& nodes) {
  using namespace reducer_test;
  std::size_t const n = 200'000;
  auto const updates = random_updates<int, plus>(n, 50'000, spread::dense, test::seed());
  std::vector<int> expected(n, 3), got(n, 3);
  tbb::reducer<int> sum(n);
  auto const update = [&] {
    nodes.parallel_for(::tbb::blocked_range<std::size_t>(0, updates.size(), 100), [&](auto const& part) {
      auto const mine = sum.local();
      for (std::size_t u = part.begin(); u != part.end(); ++u) mine[updates[u].index] += updates[u].value;
    });
  };
  for (int round = 0; round < 3; ++round) {
    apply(expected, updates, plus{});
    update();
    sum.combine_into(got, nodes);
    ASSERT_EQ(got, expected) << "round " << round;
  }
  update();
  auto const view = sum.view(nodes);
  std::vector<int> once(n);
  apply(once, updates, plus{});
  EXPECT_TRUE(std::equal(view.begin(), view.end(), once.begin()));
  EXPECT_THROW(sum.combine_into(std::span(got).first(n - 1), nodes), argument_error);
}

TEST(TbbArenas, FoldReducers) {
  tbb::arenas one, several({threads(1), threads(3), threads(2)});
  expect_reducer_right(one);
  expect_reducer_right(several);
}

TEST(TbbArenas, NeedOneThreadOnly) {
  ::tbb::global_control const limit(::tbb::global_control::max_allowed_parallelism, 1);
  tbb::arenas one, several({threads(1), threads(3), threads(2)});
  expect_reducer_right(one);
  expect_reducer_right(several);
}

/// Red if the caller's cancellation reaches a fold: some parts would be missing, and stay in the copies.
TEST(TbbArenas, AndReducersFoldInsideATaskThatIsCancelled) {
  using namespace reducer_test;
  std::size_t const n = 300'000;
  tbb::arenas nodes({threads(1), threads(3)});
  tbb::reducer<int> sum(n);
  for (bool const with_arenas : {false, true}) {
    std::vector<int> got(n);
    ::tbb::task_group_context cancelled;
    ::tbb::parallel_for(
        0, 1,
        [&](int) {
          auto const mine = sum.local();
          for (std::size_t i = 0; i < n; ++i) mine[i] = 7;
          cancelled.cancel_group_execution();
          with_arenas ? sum.combine_into(got, nodes) : sum.combine_into(got);
        },
        cancelled);
    EXPECT_EQ(std::count(got.begin(), got.end(), 7), static_cast<std::ptrdiff_t>(n)) << with_arenas;
  }
}

}  // namespace
}  // namespace coset::tbb_test
