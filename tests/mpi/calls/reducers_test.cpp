// SPDX-License-Identifier: Apache-2.0
// One result for each process: reduce_shared, allreduce_view, and reducers whose copies all threads of all processes have.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "coset/binned.hpp"
#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

/// Lengths on both sides of what lines, views and segments hold.
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> const all{0, 1, 7, 129, 1'000, 40'001, 300'000};
  return test::by_effort(std::vector<std::size_t>{0, 1, 129, 40'001}, all, all);
}

int number_of(rank_t rank, std::size_t i, int round) {
  return static_cast<int>((rank * 31 + i * 7 + static_cast<std::size_t>(round)) % 1000);
}

std::vector<int> values_of(rank_t rank, std::size_t count, int round) {
  std::vector<int> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = number_of(rank, i, round);
  return all;
}

int sum_at(rank_t ranks, std::size_t i, int round) {
  int sum = 0;
  for (rank_t r = 0; r < ranks; ++r) sum += number_of(r, i, round);
  return sum;
}

/// The first element that is not what it should be.
template <class Expected>
std::string wrong_in(std::span<int const> found, Expected const& expected) {
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected(i))
      return "element " + std::to_string(i) + " of " + std::to_string(found.size()) + " is " +
             std::to_string(found[i]) + ", not " + std::to_string(expected(i));
  return "";
}

TEST(SharedResult, IsTheSumOfAllRanksOnceInEachProcess) {
  for (std::uint64_t const seed : {0, 2}) {
    hybrid on(seed);
    for (std::size_t const count : lengths()) {
      std::vector<int> shared(count);
      for (int round = 0; round < 3; ++round)
        on.expect_no_faults([&](member& me) {
          reduce_shared(me, values_of(me.rank(), count, round), shared);
          auto const fault = wrong_in(shared, [&](std::size_t i) { return sum_at(me.size(), i, round); });
          return fault;
        });
    }
  }
}

TEST(SharedResult, ViewsAreReadUntilTheNextCall) {
  hybrid on(1);
  for (std::size_t const count : lengths()) {
    on.expect_no_faults([&](member& me) {
      std::string fault;
      for (int round = 0; round < 4; ++round) {
        auto const in = values_of(me.rank(), count, round);
        auto const view = allreduce_view(me, in);
        auto const found = wrong_in(view, [&](std::size_t i) { return sum_at(me.size(), i, round); });
        if (fault.empty()) fault = found;
      }
      return fault;
    });
  }
}

/// Of operations that do not commute the ranks' order counts.
struct first_of_two {
  int operator()(int a, int) const { return a; }
};

TEST(SharedResult, KeepsTheOrderOfRanks) {
  hybrid on(3);
  std::vector<int> shared(5'000);
  on.expect_no_faults([&](member& me) {
    reduce_shared(me, values_of(me.rank(), shared.size(), 1), shared, noncommutative(first_of_two()));
    auto const fault = wrong_in(shared, [](std::size_t i) { return number_of(0, i, 1); });
    return fault;
  });
}

TEST(SharedResult, HasTheSameBitsInEachProcessAndRun) {
  hybrid on(2);
  std::vector<double> shared(20'000), before;
  for (int run = 0; run < 2; ++run) {
    on.expect_no_faults([&](member& me) -> std::string {
      std::vector<double> in(shared.size());
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1.0 / static_cast<double>(1 + i * (me.rank() + 1));
      reduce_shared(me, in, shared);
      return "";
    });
    std::vector<double> of_first = shared;
    MPI_Bcast(of_first.data(), static_cast<int>(of_first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    EXPECT_EQ(said_anywhere(of_first == shared ? "" : "other bits than process 0's"), "");
    EXPECT_EQ(said_anywhere(run == 0 || before == shared ? "" : "other bits than the run before"), "");
    before = shared;
  }
}

TEST(SharedResult, NamedByOneRankElsewhereIsAnErrorOnAll) {
  hybrid on(2);
  if (said_anywhere(on.all.threads() > 1 ? "several" : "").empty()) GTEST_SKIP() << "one thread in each process";
  std::vector<int> shared(100), other(100);
  on.expect_no_faults([&](member& me) -> std::string {
    bool const alone = me.rank() == on.all.first() + on.all.threads() - 1 && on.all.threads() > 1;
    auto const thrown = outcome_of([&] { reduce_shared(me, values_of(me.rank(), 100, 0), alone ? other : shared); });
    return thrown.message.find("the output of rank") != std::string::npos ? "" : "not refused: " + thrown.message;
  });
}

TEST(Reducer, CombinesTheCopiesOfAllRanks) {
  for (std::uint64_t const seed : {0, 1, 3}) {
    hybrid on(seed);
    for (std::size_t const count : lengths()) {
      reducer<int> sum(count);
      for (auto const how : {combining::assign, combining::add, combining::assign}) {
        std::vector<int> target(count, 5);
        on.expect_no_faults([&](member& me) {
          auto mine = sum.local(me);
          for (std::size_t i = 0; i < count; ++i) mine[i] += number_of(me.rank(), i, 2);
          sum.combine_into(target, me, how);
          int const begin = how == combining::add ? 5 : 0;
          auto const fault = wrong_in(target, [&](std::size_t i) { return begin + sum_at(me.size(), i, 2); });
          return fault;
        });
      }
    }
  }
}

TEST(Reducer, TakesWhatThreadsHaveReducedThatAreNoRanks) {
  hybrid on(2);
  std::size_t const count = 3'000;
  reducer<int> sum(count);
  for (int round = 0; round < 2; ++round) {
    std::vector<int> target(count);
    std::thread([&] { std::ranges::fill(sum.local(), 10); }).join();
    on.expect_no_faults([&](member& me) {
      if (me.rank() % 2 == 0) sum.local(me)[1] += 1;  // others have no copy
      sum.combine_into(target, me, combining::assign);
      int const even = static_cast<int>((me.size() + 1) / 2);
      auto const fault = wrong_in(target, [&](std::size_t i) { return 10 * processes() + (i == 1 ? even : 0); });
      return fault;
    });
  }
}

/// Red if the first rank takes over a copy to which its thread still adds.
TEST(Reducer, TakesCopiesWithoutNumbersOfItsOwnThreads) {
  hybrid on(1);
  reducer<int> sum(100);
  std::vector<int> target(100);
  for (int round = 0; round < 20; ++round)
    on.expect_no_faults([&](member& me) {
      if (me.rank() % 3 == 1) std::this_thread::yield();
      for (int& each : sum.local()) each += 1;
      sum.combine_into(target, me, combining::assign);
      return wrong_in(target, [&](std::size_t) { return static_cast<int>(me.size()); });
    });
}

TEST(Reducer, MadeForATeamServesItsMembersAlone) {
  if (processes() == 1) GTEST_SKIP() << "one process combines without members";
  hybrid on(1), other(1);
  std::vector<int> target(50), values(3);
  reducer<int> sum(on.all, target.size());
  joint_reducer sums(on.all, values, into(target, maximum()));
  EXPECT_EQ(said_anywhere(outcome_of([&] { sum.combine_into(target); }).type == type_name<argument_error>() &&
                                  outcome_of([&] { sums.combine(); }).type == type_name<argument_error>()
                              ? ""
                              : "combined without a member"),
            "");
  other.expect_no_faults([&](member& me) -> std::string {
    auto const thrown = outcome_of([&] { sum.combine_into(target, me); });
    return thrown.message.find("a member of another team") != std::string::npos ? "" : thrown.message;
  });
  sum.reset();
  on.expect_no_faults([&](member& me) -> std::string {
    std::ranges::fill(sum.local(me), 1);
    sum.combine_into(target, me, combining::assign);
    return wrong_in(target, [&](std::size_t) { return static_cast<int>(me.size()); });
  });
}

TEST(Reducer, CombinesSeveralArraysAndValuesAtOnce) {
  hybrid on(1);
  std::vector<double> charge(2'000);
  std::vector<float> current(300);
  double fastest = 0;
  joint_reducer<double, float, value_of<double, maximum>> sums(charge, current, fastest);
  for (int round = 0; round < 3; ++round) {
    on.expect_no_faults([&](member& me) -> std::string {
      auto&& mine = sums.local(me);
      for (double& each : std::get<0>(mine)) each += 1;
      std::get<1>(mine)[7] += 2;
      double& top = std::get<2>(mine);
      top = std::max(top, 10.0 * round + me.rank());
      sums.combine(me, combining::assign);
      std::string fault;
      if (std::ranges::count(charge, static_cast<double>(me.size())) != 2'000) fault = "a charge is wrong";
      if (current[7] != 2 * static_cast<float>(me.size()) || current[8] != 0) fault = "a current is wrong";
      if (fastest != 10.0 * round + me.size() - 1) fault = "the fastest is " + std::to_string(fastest);
      return fault;
    });
  }
}

/// The sum of all ranks' numbers, however they are spread over processes.
TEST(Reducer, OfBinnedSumsHasTheBitsOfAnyNumberOfThreads) {
  std::size_t const work = 60;
  std::vector<double> first(100), found(100);
  for (std::uint64_t const seed : {0, 1, 2}) {
    hybrid on(seed);
    reducer<binned<double>> sum(100);
    std::vector<binned<double>> target(100);
    on.expect_no_faults([&](member& me) -> std::string {
      auto mine = sum.local(me);
      for (std::size_t w = me.rank(); w < work; w += me.size())
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += 1.0 / static_cast<double>(1 + w * 100 + i);
      sum.combine_into(target, me, combining::assign);
      return "";
    });
    for (std::size_t i = 0; i < 100; ++i) found[i] = target[i].value();
    if (seed == 0) first = found;
    EXPECT_EQ(said_anywhere(found == first ? "" : "other bits with other threads"), "");
  }
}

TEST(Reducer, OfAnotherLengthIsAnErrorOnAll) {
  if (processes() == 1) GTEST_SKIP() << "one reducer";
  hybrid on(1);
  std::size_t const count = process() == 0 ? 1'000 : 1'001;
  reducer<int> sum(count);
  std::vector<int> target(count);
  on.expect_no_faults([&](member& me) -> std::string {
    auto const thrown = outcome_of([&] { sum.combine_into(target, me, combining::assign); });
    bool const names_both =
        thrown.message.find("1000") != std::string::npos && thrown.message.find("1001") != std::string::npos;
    return names_both ? "" : "not refused: " + thrown.message;
  });
}

struct fails_at_seven {
  int operator()(int a, int b) const {
    if (a + b == 7) throw std::runtime_error("seven");
    return a + b;
  }
};

TEST(Reducer, OfAnOperationThatThrowsEndsOnAll) {
  hybrid on(1);
  if (on.all.size() == 1) GTEST_SKIP() << "one copy";
  reducer<int, fails_at_seven> sum(2'000, fails_at_seven(), 0);
  std::vector<int> target(2'000);
  on.expect_no_faults([&](member& me) -> std::string {
    std::ranges::fill(sum.local(me), me.rank() == 0 ? 7 : 0);
    auto const thrown = outcome_of([&] { sum.combine_into(target, me, combining::assign); });
    return thrown.message.find("seven") != std::string::npos || thrown.type == type_name<aborted>()
               ? ""
               : "ended with " + thrown.type + " " + thrown.message;
  });
  sum.reset();
  on.expect_works();
}

}  // namespace
}  // namespace coset::mpi_test
