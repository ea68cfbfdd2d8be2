// SPDX-License-Identifier: Apache-2.0
// coset::omp::reduction over processes: threads of OpenMP's regions are the ranks.
#include "coset/omp.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

constexpr std::size_t count = 20'000;

/// Regions of as many threads as this process has ranks, and a reduction over all.
struct loop {
  int const threads_here;
  std::unique_ptr<team> threads;
  mpi::team all;
  std::vector<double> bins;
  double largest = 0;

  /// Of `each` threads, or of a number that is different in each process.
  explicit loop(std::uint64_t seed, int each = 0)
      : threads_here(each > 0 ? each : static_cast<int>(threads_of(process(), seed))),
        threads(team::adopt(static_cast<rank_t>(threads_here))),
        all(MPI_COMM_WORLD, *threads),
        bins(count) {}

  double rank() const { return all.first() + static_cast<rank_t>(omp_get_thread_num()); }
  double sum_of_ranks() const { return all.size() * (all.size() - 1.0) / 2; }

  void expect(double bin, double most = -1) const {
    std::string fault;
    for (std::size_t i = 0; i < count && fault.empty(); ++i)
      if (bins[i] != bin + static_cast<double>(i % 3) * all.size())
        fault = "bin " + std::to_string(i) + " is " + std::to_string(bins[i]);
    if (most >= 0 && largest != most) fault += ", the largest " + std::to_string(largest);
    EXPECT_EQ(said_anywhere(fault), "") << all.describe();
  }
};

template <class Bins>
void add_to(Bins&& mine, double rank) {
  for (std::size_t i = 0; i < count; ++i) mine[i] += rank + static_cast<double>(i % 3);
}

TEST(OmpReduction, HasTheTotalOfAllThreadsInEachProcess) {
  for (std::uint64_t const seed : {0, 1, 3}) {
    loop on(seed);
    omp::reduction sum(on.all, on.bins);
    for (int round = 0; round < 4; ++round) {
#pragma omp parallel num_threads(on.threads_here)
      {
        add_to(sum.local(), on.rank());
        if (round % 2 == 0)
          sum.combine(combining::assign);
        else
          sum.combine(omp::nowait, combining::assign);
      }
      on.expect(on.sum_of_ranks());
    }
  }
}

TEST(OmpReduction, AddsToTargetsOfSeveralTypes) {
  loop on(2);
  omp::reduction sum(on.all, on.bins, into(on.largest, maximum()));
  std::ranges::fill(on.bins, 100);
  on.largest = 0.5;
#pragma omp parallel num_threads(on.threads_here)
  {
    auto&& mine = sum.local();
    add_to(std::get<0>(mine), on.rank());
    double& largest = std::get<1>(mine);
    largest = std::max(largest, on.rank());
    sum.combine();
  }
  on.expect(100 + on.sum_of_ranks(), std::max(0.5, on.all.size() - 1.0));
}

/// Thread 0 of each process adds to the targets themselves, whose own values are part of the sum.
TEST(OmpReduction, InPlaceSumsTheTargetsOfAllProcesses) {
  for (int const each : {0, 1, 2, 3}) {
    loop on(1, each);
    omp::reduction sum(omp::in_place, on.all, on.bins, into(on.largest, maximum()));
    for (int round = 0; round < 3; ++round) {
      std::ranges::fill(on.bins, process());
      on.largest = process() == 0 ? 0.5 : -1.0;
#pragma omp parallel num_threads(on.threads_here)
      {
        auto&& mine = sum.local();
        auto&& bins = std::get<0>(mine);
        EXPECT_EQ(bins.data() == on.bins.data(), omp_get_thread_num() == 0);
        add_to(bins, on.rank());
        double& largest = std::get<1>(mine);
        largest = std::max(largest, on.rank());
        if (round < 2) sum.combine();
      }
      if (round == 2) sum.combine();
      on.expect(on.sum_of_ranks() + processes() * (processes() - 1) / 2.0, std::max(0.5, on.all.size() - 1.0));
    }
    EXPECT_THROW(sum.combine(combining::assign), argument_error);
    if (processes() == 1) continue;
    auto const refused = outcome_of([&] { sum.combine(combining::add, destination::one_process(0)); });
    EXPECT_NE(refused.message.find("combine in place"), std::string::npos) << refused.message;
  }
}

TEST(OmpReduction, CombinesByThreadsThatHaveJoinedBefore) {
  loop on(2);
  omp::reduction sum(on.all, on.bins);
  for (int round = 0; round < 2; ++round) {
#pragma omp parallel num_threads(on.threads_here)
    {
      add_to(sum.local(), on.rank());
      auto me = on.all.join(static_cast<rank_t>(omp_get_thread_num()));
      sum.combine(combining::assign);
      barrier(*me);  // it is still a member
    }
    on.expect(on.sum_of_ranks());
  }
#pragma omp parallel num_threads(on.threads_here)
  add_to(sum.local(), on.rank());
  {
    auto me = on.all.join(0);
    sum.combine(combining::assign);
  }
  on.expect(on.sum_of_ranks());
}

TEST(OmpReduction, WhoseTargetHasGrownInOneProcessIsAnErrorOnAll) {
  if (processes() == 1) GTEST_SKIP() << "no other process";
  loop on(1);
  omp::reduction sum(on.all, on.bins);
  if (on.all.first() == 0) on.bins.push_back(0);
  std::string first_fault;
#pragma omp parallel num_threads(on.threads_here)
  {
    sum.local()[0] += 1;
    auto const thrown = outcome_of([&] { sum.combine(combining::assign); });
    if (thrown.message.find("a reducer of 20000 elements and an array of 20001") == std::string::npos) {
#pragma omp critical
      first_fault = "not refused: " + thrown.message;
    }
  }
  EXPECT_EQ(said_anywhere(first_fault), "");
}

TEST(OmpReduction, CombinesOutsideOfRegions) {
  loop on(1);
  omp::reduction sum(on.all, on.bins);
  for (int round = 0; round < 2; ++round) {
#pragma omp parallel num_threads(on.threads_here)
    add_to(sum.local(), on.rank());
    sum.combine(combining::assign);
    on.expect(on.sum_of_ranks());
  }
}

TEST(OmpReduction, GoesToOneProcessOrByParts) {
  loop on(3);
  omp::reduction sum(on.all, on.bins);
  auto const root = static_cast<rank_t>(on.all.processes() - 1);
  bool const is_root = on.all.first() + on.all.threads() == on.all.size();
  std::vector<std::size_t> parts(static_cast<std::size_t>(on.all.processes()), 7);
  parts.back() = count - 7 * (parts.size() - 1);
  // Processes are in the order of their ranks, which need not be MPI's.
  auto const own = static_cast<std::size_t>(on.all.process_number());
  std::size_t const before = 7 * own;
  for (auto const how : {combining::assign, combining::add}) {
    for (bool const by_parts : {false, true}) {
      std::ranges::fill(on.bins, 5);
#pragma omp parallel num_threads(on.threads_here)
      {
        add_to(sum.local(), on.rank());
        sum.combine(how, by_parts ? destination::parts(parts) : destination::one_process(root));
      }
      std::string fault;
      for (std::size_t i = 0; i < count && fault.empty(); ++i) {
        bool const is_mine = by_parts ? i >= before && i < before + parts[own] : is_root;
        double const total = on.sum_of_ranks() + static_cast<double>(i % 3) * on.all.size();
        double const right = !is_mine ? 5 : how == combining::add ? 5 + total : total;
        if (on.bins[i] != right)
          fault = "bin " + std::to_string(i) + " is " + std::to_string(on.bins[i]) + ", not " + std::to_string(right);
      }
      EXPECT_EQ(said_anywhere(fault), "") << by_parts;
    }
  }
}

TEST(OmpReduction, GoesOnWithOtherCopiesWhileTheFirstAreCombined) {
  loop on(2);
  omp::reduction sum(on.all, on.bins);
  std::vector<double> const zeros(count);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(on.threads_here)
    {
      auto me = on.all.join(static_cast<rank_t>(omp_get_thread_num()));
      add_to(sum.local(), on.rank());
      started_combination later = sum.start_combine(*me);
      sum.local()[0] += 1;
      while (!later.test()) {
      }
      later.wait();
    }
    on.expect(on.sum_of_ranks());
    sum.reset();  // of what the next loop has begun
  }
}

TEST(OmpReduction, AddsInSplitPhase) {
  loop on(1);
  omp::reduction sum(on.all, on.bins);
  for (int round = 1; round <= 4; ++round) {
#pragma omp parallel num_threads(on.threads_here)
    {
      auto me = on.all.join(static_cast<rank_t>(omp_get_thread_num()));
      for (std::size_t i = 0; i < count; ++i) sum.local()[i] += on.rank();
      started_combination later = sum.start_combine(*me, combining::add);
      if (omp_get_thread_num() % 2 == 0) later.wait();
      barrier(*me);  // of ranks of which some have not completed it
      later.wait();
    }
    std::string fault;
    for (double const bin : on.bins)
      if (bin != round * on.sum_of_ranks() && fault.empty()) fault = "not the sum: " + std::to_string(bin);
    EXPECT_EQ(said_anywhere(fault), "") << round;
  }
}

TEST(OmpReduction, OfWhatWasTouchedStartsAndGoesByParts) {
  std::size_t const length = 100'000;
  for (std::size_t const touched : {std::size_t{70}, length}) {
    loop on(2);
    std::vector<double> grid(length);
    sparse_options options;
    options.by = way::private_copies;
    omp::sparse_reduction sum(on.all, grid, plus(), options);
    std::vector<std::size_t> parts(static_cast<std::size_t>(on.all.processes()), 33);
    parts.back() = length - 33 * (parts.size() - 1);
    auto const add = [&] {
      auto mine = sum.local();
      for (std::size_t i = 0; i < touched; ++i) mine[i] += on.rank() + 1;
    };
#pragma omp parallel num_threads(on.threads_here)
    {
      add();
      auto me = on.all.join(static_cast<rank_t>(omp_get_thread_num()));
      started_combination later = sum.start_combine(*me);
      while (!later.test()) {
      }
    }
#pragma omp parallel num_threads(on.threads_here)
    {
      add();
      sum.combine(combining::add, destination::parts(parts));
    }
    double const total = on.sum_of_ranks() + on.all.size();
    std::size_t const begin = 33 * static_cast<std::size_t>(on.all.process_number());
    std::size_t const end = begin + parts[static_cast<std::size_t>(on.all.process_number())];
    std::string fault;
    for (std::size_t i = 0; i < length && fault.empty(); ++i) {
      double const right = i >= touched ? 0 : i >= begin && i < end ? 2 * total : total;
      if (grid[i] != right) fault = "element " + std::to_string(i) + " is " + std::to_string(grid[i]);
    }
    EXPECT_EQ(said_anywhere(fault), "") << touched << ": " << sum.describe();
  }
}

TEST(OmpReduction, OfWhatWasTouchedHasTheBitsOfOneLoop) {
  std::size_t const length = 300'000, updates = 4'000;
  for (auto const by : {way::partition, way::private_copies, way::chosen}) {
    for (std::uint64_t const seed : {1, 2}) {
      loop on(seed);
      std::vector<double> grid(length, 1), right(length, 1);
      sparse_options options;
      options.by = by;
      omp::sparse_reduction sum(on.all, grid, options);
      auto const key = [&](rank_t rank, std::size_t i) { return (rank * 7919 + i * i * 104'729) % length; };
      for (int round = 0; round < 4; ++round) {
        bool const assigns = round == 2;
        std::size_t const work = round == 3 ? 60'000 : updates;
#pragma omp parallel num_threads(on.threads_here)
        {
          auto mine = sum.local();
          auto const rank = static_cast<rank_t>(on.rank());
          for (std::size_t i = 0; i < work; ++i) mine[key(rank, i)] += 1.0 / static_cast<double>(1 + i + rank);
          sum.combine(assigns ? combining::assign : combining::add);
        }
        if (assigns) std::ranges::fill(right, 0);
        for (rank_t rank = 0; rank < on.all.size(); ++rank)
          for (std::size_t i = 0; i < work; ++i) right[key(rank, i)] += 1.0 / static_cast<double>(1 + i + rank);
        std::string fault;
        for (std::size_t i = 0; i < length && fault.empty(); ++i)
          if (by == way::partition && round < 3 ? grid[i] != right[i] : std::abs(grid[i] - right[i]) > 1e-9)
            fault = "element " + std::to_string(i) + " is " + std::to_string(grid[i]) + ", not " +
                    std::to_string(right[i]) + " in round " + std::to_string(round);
        EXPECT_EQ(said_anywhere(fault), "") << static_cast<int>(by);
      }
    }
  }
}

TEST(OmpReduction, OfWhatWasTouchedGoesToOneProcess) {
  loop on(3);
  std::vector<float> grid(100'000);
  omp::sparse_reduction<float> sum(on.all, std::span(grid));
#pragma omp parallel num_threads(on.threads_here)
  {
    sum.local()[77'777] += 1;
    sum.combine(combining::add, destination::one_process(0));
  }
  float const right = on.all.first() == 0 ? static_cast<float>(on.all.size()) : 0.0f;
  EXPECT_EQ(said_anywhere(grid[77'777] == right && grid[77'776] == 0 ? "" : "wrong"), "");
}

TEST(OmpReduction, StartsNoThirdCombinationAndHangsOnNoError) {
  loop on(2);
  for (bool const is_longer : {false, true}) {
    if (is_longer && processes() == 1) continue;
    on.bins.resize(is_longer && on.all.first() == 0 ? count + 1 : count);
    omp::reduction sum(on.all, on.bins);
    std::string first_fault;
#pragma omp parallel num_threads(on.threads_here)
    {
      auto const thrown = outcome_of([&] {
        auto me = on.all.join(static_cast<rank_t>(omp_get_thread_num()));
        std::vector<started_combination> later;
        for (int start = 0; start < (is_longer ? 1 : 3); ++start) later.push_back(sum.start_combine(*me));
        for (auto& each : later) each.wait();
      });
      char const* const words = is_longer ? "20001" : "wait for the first";
      if (thrown.message.find(words) == std::string::npos && thrown.type != type_name<aborted>()) {
#pragma omp critical
        first_fault = "not refused: " + thrown.message;
      }
    }
    EXPECT_EQ(said_anywhere(first_fault), "");
    on.all.reset();
  }
}

TEST(OmpReduction, OfRegionsWithMoreThreadsIsAnErrorOnAll) {
  if (processes() == 1) GTEST_SKIP() << "one process combines as any region does";
  loop on(0);
  omp::reduction sum(on.all, on.bins);
  int const wrong_here = on.all.first() == 0 ? 1 : 0;
  std::string first_fault;
#pragma omp parallel num_threads(on.threads_here + wrong_here)
  {
    sum.local()[0] += 1;
    auto const thrown = outcome_of([&] { sum.combine(combining::assign); });
    if (thrown.message.find("the process has") == std::string::npos) {
#pragma omp critical
      first_fault = "not refused: " + thrown.message;
    }
  }
  EXPECT_EQ(said_anywhere(first_fault), "");
}

TEST(OmpReduction, OfDifferentLengthsTellsBothOnAll) {
  if (processes() == 1) GTEST_SKIP() << "one length";
  loop on(1);
  on.bins.resize(on.all.first() == 0 ? 300'000 : 300'001);
  omp::reduction sum(on.all, on.bins);
  std::string first_fault;
#pragma omp parallel num_threads(on.threads_here)
  {
    sum.local()[0] += 1;
    auto const thrown = outcome_of([&] { sum.combine(combining::assign); });
    if (thrown.message.find("300000") == std::string::npos || thrown.message.find("300001") == std::string::npos) {
#pragma omp critical
      first_fault = "not refused: " + thrown.message;
    }
  }
  EXPECT_EQ(said_anywhere(first_fault), "");
}

}  // namespace
}  // namespace coset::mpi_test
