// SPDX-License-Identifier: Apache-2.0
// Threads and reducers that come and go in any order.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <numeric>
#include <optional>

#include "reducer/updates.hpp"
#include "variable.hpp"

namespace coset::reducer_test {
namespace {

std::string copies(std::size_t number) { return std::to_string(number) + " private copies"; }

TEST(ReducerThreads, KeepTheirCopy) {
  reducer<int> first(10), second(10);
  int* const mine = &first.local()[3];
  EXPECT_NE(mine, &second.local()[3]);
  EXPECT_EQ(mine, &first.local()[3]);
  std::vector<int> got(10);
  first.combine_into(got);
  EXPECT_EQ(mine, &first.local()[3]);
  std::jthread([&] { EXPECT_NE(mine, &first.local()[3]); });
}

/// Red if what a thread remembers of its last call does not say whether that was by number.
TEST(ReducerThreads, HaveCopiesByNumberBesideTheirOwn) {
  reducer<int> sum(10);
  int* const own = &sum.local()[0];
  int* const zero = &sum.local(0)[0];
  int* const one = &sum.local(1)[0];
  EXPECT_NE(own, zero);
  EXPECT_NE(own, one);
  EXPECT_NE(zero, one);
  EXPECT_EQ(own, &sum.local()[0]);
  EXPECT_EQ(zero, &sum.local(0)[0]);
  EXPECT_EQ(one, &sum.local(1)[0]);
  std::jthread([&] { EXPECT_EQ(zero, &sum.local(0)[0]); });
}

/// Red if a thread never forgets those that are gone: each keeps some kilobytes.
TEST(ReducerThreads, ForgetReducersThatAreGone) {
  auto const make_many = [] {
    for (int k = 0; k < 2000; ++k) reducer<int>(10).local()[3] += 1;
  };
  make_many();
  auto const before = mallinfo2().uordblks;
  make_many();
  EXPECT_LT(mallinfo2().uordblks, before + 500'000);
}

TEST(ReducerThreads, LeaveTheirCopyToTheNext) {
  reducer<int> sum(10'000);
  for (int generation = 0; generation < 50; ++generation)
    on_threads(1, [&](std::uint32_t) { sum.local()[9'000] += 1; });
  EXPECT_NE(sum.describe().find(copies(1)), std::string::npos) << sum.describe();
  EXPECT_EQ(sum.view()[9'000], 50);
}

TEST(ReducerThreads, AtTheSameTimeHaveCopiesOfTheirOwn) {
  std::uint32_t const threads = 20;
  reducer<int> sum(100);
  std::barrier together(threads);
  on_threads(threads, [&](std::uint32_t) {
    auto const mine = sum.local();
    together.arrive_and_wait();
    for (int i = 0; i < 1000; ++i) mine[static_cast<std::size_t>(i % 100)] += 1;
  });
  EXPECT_NE(sum.describe().find(copies(threads)), std::string::npos) << sum.describe();
  EXPECT_EQ(sum.view()[99], 10 * int{threads});
}

TEST(ReducerThreads, OutliveReducersAtTheSameAddress) {
  std::optional<reducer<int>> sum;
  std::barrier step(3);
  std::vector<int> got(64);
  std::jthread one([&] {
    for (int round = 0; round < 200; ++round) {
      step.arrive_and_wait();
      sum->local()[static_cast<std::size_t>(round % 64)] += 1;
      step.arrive_and_wait();
    }
  });
  std::jthread other([&] {
    for (int round = 0; round < 200; ++round) {
      step.arrive_and_wait();
      sum->local()[static_cast<std::size_t>(round % 64)] += 1;
      step.arrive_and_wait();
    }
  });
  for (int round = 0; round < 200; ++round) {
    sum.emplace(64);
    step.arrive_and_wait();
    step.arrive_and_wait();
    sum->combine_into(got);
    sum.reset();
  }
  EXPECT_EQ(std::accumulate(got.begin(), got.end(), 0), 400);
}

TEST(ReducerThreads, MayEndAfterTheReducer) {
  std::barrier step(2);
  auto sum = std::make_unique<reducer<int>>(10);
  std::jthread thread([&] {
    sum->local()[1] = 1;
    step.arrive_and_wait();
    step.arrive_and_wait();
    reducer<int> own(10);  // dies before its thread does
    own.local()[1] = 1;
  });
  step.arrive_and_wait();
  sum.reset();
  step.arrive_and_wait();
}

TEST(ReducerThreads, UseManyReducersInTurn) {
  std::vector<std::unique_ptr<reducer<int>>> all;
  for (int i = 0; i < 100; ++i) all.push_back(std::make_unique<reducer<int>>(4));
  on_threads(3, [&](std::uint32_t) {
    for (int round = 0; round < 3; ++round)
      for (auto& one : all) one->local()[1] += 1;
    for (auto& one : all) one->local()[2] += 1;
  });
  for (auto& one : all) {
    EXPECT_EQ(one->view()[1], 9);
    EXPECT_EQ(one->view()[2], 3);
  }
}

TEST(ReducerThreads, MayMoveTheReducerBetweenRounds) {
  reducer<int> first(8);
  first.local()[1] = 2;
  reducer<int> second(std::move(first));
  second.local()[1] += 3;
  EXPECT_EQ(second.view()[1], 5);
}

TEST(ReducerThreads, OfTheSameNumbersGiveTheSameBitsEveryTime) {
  std::size_t const elements = 2000;
  std::uint32_t const threads = 4;
  std::optional<std::vector<float>> before;
  for (int run = 0; run < 10; ++run) {
    reducer<float> sum(elements);
    on_threads(threads, [&](std::uint32_t t) {
      auto const mine = sum.local(threads - 1 - t);
      for (std::size_t i = 0; i < elements; ++i) mine[i] += 1.0f / static_cast<float>(i * 5 + t + 1);
    });
    std::vector<float> got(elements);
    sum.combine_into(got);
    if (before) {
      EXPECT_EQ(*before, got);
    }
    before = got;
  }
}

TEST(ReducerThreads, WithTooLittleMemoryFoldEarlyAndLoseNothing) {
  std::size_t const elements = 200'000, cap = 300'000;  // 800 kB a copy
  std::uint32_t const threads = 4;
  sparse_reducer<int> sum(elements, {.most_bytes = cap});
  std::vector<int> got(elements, 1), expected = got;
  for (int round = 0; round < 3; ++round) {
    auto const updates = random_updates<int, plus>(elements, 20'000, spread::dense, test::seed() + 7);
    apply(expected, updates, plus{});
    on_threads(threads, [&](std::uint32_t t) { apply(sum.local(), updates, t, threads, plus{}); });
    if (round == 1) {
      auto const view = sum.view();
      EXPECT_EQ(view.size(), elements);
    }
    sum.combine_into(got);
  }
  EXPECT_EQ(got, expected);
  EXPECT_NE(sum.describe().find("at most 300000 bytes together"), std::string::npos) << sum.describe();
  EXPECT_EQ(sum.describe().find("folded early 0 times"), std::string::npos) << sum.describe();
}

TEST(ReducerThreads, WithEnoughMemoryUnderTheCapNeverFoldEarly) {
  sparse_reducer<int> sum(100'000, {.most_bytes = 1'000'000});
  on_threads(2, [&](std::uint32_t) {
    for (int round = 0; round < 3; ++round) {
      auto const mine = sum.local();
      for (std::size_t i = 0; i < 100'000; ++i) mine[i] += 1;
    }
  });
  for (int i = 0; i < 5; ++i) {  // pages that are there are not claimed again
    std::vector<int> got(100'000);
    sum.combine_into(got);
    on_threads(1, [&](std::uint32_t) { sum.local().span()[5] += 1; });
  }
  EXPECT_NE(sum.describe().find("folded early 0 times"), std::string::npos) << sum.describe();
}

TEST(ReducerThreads, WithNoMemoryToSpeakOfStillGetWholeSpans) {
  sparse_reducer<int> sum(100'000, {.most_bytes = 1});
  on_threads(3, [&](std::uint32_t) {
    for (int round = 0; round < 2; ++round)
      for (int& one : sum.local().span()) one += 1;
    sum.local()[99'999] += 1;
  });
  auto const view = sum.view();
  EXPECT_EQ(view[0], 6);
  EXPECT_EQ(view[99'999], 9);
}

/// Red if what is claimed, given back and claimed again is not counted to the page.
TEST(ReducerMemory, IsCappedToThePage) {
  std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / sizeof(int), pages = 32;
  sparse_reducer<int> sum(4 * pages * page, {.most_bytes = pages * page * sizeof(int)});
  auto const mine = sum.local();
  auto const folded_early = [&](int times) {
    return sum.describe().find("folded early " + std::to_string(times) + " times") != std::string::npos;
  };
  for (std::size_t k = 0; k < pages; ++k) mine[k * page] += 1;
  EXPECT_TRUE(folded_early(0)) << sum.describe();
  for (std::size_t k = pages; k < 2 * pages; ++k) mine[k * page] += 1;
  EXPECT_TRUE(folded_early(1)) << sum.describe();
  for (std::size_t k = 2 * pages; k < 3 * pages; ++k) mine[k * page] += 1;
  EXPECT_TRUE(folded_early(2)) << sum.describe();
  std::vector<int> got(4 * pages * page), expected = got;
  for (std::size_t k = 0; k < 3 * pages; ++k) expected[k * page] = 1;
  sum.combine_into(got);
  EXPECT_EQ(got, expected);
}

TEST(ReducerLog, NamesReducersOnlyWhenItIsAskedFor) {
  auto const said = [](char const* wanted) {
    test::variable const log("COSET_LOG", wanted);
    ::testing::internal::CaptureStderr();
    reducer<int>(10).local()[3] = 1;
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said("plan").find("coset: reducer of 10 int"), 0u);
  EXPECT_EQ(said(""), "");
}

}  // namespace
}  // namespace coset::reducer_test
