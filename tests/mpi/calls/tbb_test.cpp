// SPDX-License-Identifier: Apache-2.0
// coset::tbb's reducers over processes: tasks add, one thread of each process combines.
#include "coset/tbb.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

constexpr std::size_t count = 20'000;
constexpr int work = 200'000;

/// The ways in which a process can take part.
struct way {
  char const* name;
  std::function<std::unique_ptr<team>()> threads;
};
std::vector<way> ways() {
  auto const own = [](rank_t ranks) {
    return std::make_unique<team>(team_options{.ranks = ranks, .place = placement::unbound});
  };
  return {{"the caller", [] { return team::adopt(1); }},
          {"a thread of the team's own", [=] { return own(1); }},
          {"some threads of the team's own", [=] { return own(threads_of(process(), 2)); }}};
}

/// More workers than this machine may have processors, and one thread that combines.
struct tasks {
  ::tbb::global_control const several{::tbb::global_control::max_allowed_parallelism, 4};
  ::tbb::task_arena all{4}, other{2};

  /// Updates by tasks of two arenas: of element i the value is process() + 1.
  template <class Sum>
  void add_to(Sum& sum, int most = work) {
    auto const loop = [&](int begin, int end) {
      ::tbb::parallel_for(::tbb::blocked_range<int>(begin, end, 1'000), [&](auto const& part) {
        auto mine = sum.local();
        for (int i = part.begin(); i != part.end(); ++i) mine[static_cast<std::size_t>(i) % count] += process() + 1;
      });
    };
    all.execute([&] { loop(0, most / 2); });
    other.execute([&] { loop(most / 2, most); });
  }
};

/// What all tasks have added to an element.
double serial_sum(int most = work) { return processes() * (processes() + 1) / 2.0 * most / count; }

template <class Range>
std::string wrong_in(Range const& found, double expected) {
  auto const wrong = std::ranges::find_if(found, [&](double each) { return each != expected; });
  if (wrong == found.end()) return "";
  return "element " + std::to_string(wrong - found.begin()) + " is " + std::to_string(*wrong) + ", not " +
         std::to_string(expected);
}

TEST(TbbReducer, HasTheTotalOfAllTasksInEachProcess) {
  tasks on;
  for (way const& each : ways()) {
    auto const threads = each.threads();
    mpi::team all(MPI_COMM_WORLD, *threads);
    std::vector<double> bins(count, 7);
    tbb::reducer sum(all, std::span(bins));
    for (int round = 0; round < 3; ++round) {
      on.add_to(sum);
      sum.combine(combining::assign);
      EXPECT_EQ(said_anywhere(wrong_in(bins, serial_sum())), "") << each.name;
    }
    on.add_to(sum);
    sum.combine_into(bins);
    EXPECT_EQ(said_anywhere(wrong_in(bins, 2 * serial_sum())), "") << each.name;
    tbb::arenas nodes;
    on.add_to(sum);
    sum.combine(nodes);
    EXPECT_EQ(said_anywhere(wrong_in(bins, 3 * serial_sum())), "") << each.name;
  }
}

TEST(TbbReducer, OfFewElementsAndFewCopies) {
  for (way const& each : ways()) {
    auto const threads = each.threads();
    mpi::team all(MPI_COMM_WORLD, *threads);
    tbb::reducer<int> sum(all, std::size_t{3});
    for (int round = 0; round < 2; ++round) {
      std::vector<int> got(3, 1);
      if (all.first() == 0) sum.local()[1] += 5;  // the other processes bring nothing
      sum.combine_into(got);
      EXPECT_EQ(said_anywhere(got == std::vector<int>{1, 6, 1} ? "" : "wrong"), "") << each.name;
    }
  }
}

TEST(TbbReducer, OfWhatWasTouchedSendsThat) {
  tasks on;
  for (way const& each : ways()) {
    auto const threads = each.threads();
    mpi::team all(MPI_COMM_WORLD, *threads);
    std::vector<double> grid(count);
    tbb::sparse_reducer sum(all, std::span(grid));
    for (int round = 1; round <= 2; ++round) {
      on.add_to(sum, static_cast<int>(count));
      sum.combine();
      EXPECT_EQ(said_anywhere(wrong_in(grid, round * serial_sum(count))), "") << each.name;
    }
  }
}

TEST(TbbReduction, GoesToOneProcessOrByParts) {
  tasks on;
  for (way const& each : ways()) {
    auto const threads = each.threads();
    mpi::team all(MPI_COMM_WORLD, *threads);
    std::vector<double> bins(count, 5);
    tbb::reduction sum(all, bins);
    auto const root = static_cast<rank_t>(all.processes() - 1);
    on.add_to(sum);
    sum.combine(combining::add, destination::one_process(root));
    bool const is_root = all.process_number() == all.processes() - 1;
    EXPECT_EQ(said_anywhere(wrong_in(bins, is_root ? 5 + serial_sum() : 5)), "") << each.name;
    std::vector<std::size_t> parts(static_cast<std::size_t>(all.processes()), 9);
    parts.back() = count - 9 * (parts.size() - 1);
    on.add_to(sum);
    sum.combine(combining::assign, destination::parts(parts));
    auto const own = static_cast<std::size_t>(all.process_number());
    EXPECT_EQ(said_anywhere(wrong_in(std::span(bins).subspan(9 * own, parts[own]), serial_sum())), "") << each.name;
  }
}

TEST(TbbReduction, OfSeveralThingsIsCombinedAtOnce) {
  for (way const& each : ways()) {
    auto const threads = each.threads();
    mpi::team all(MPI_COMM_WORLD, *threads);
    std::vector<float> charge(1'000);
    int largest = -1;
    tbb::reduction sums(all, charge, into(largest, maximum()));
    ::tbb::parallel_for(0, 10'000, [&](int i) {
      auto [q, top] = sums.local();
      q[static_cast<std::size_t>(i) % 1'000] += 1;
      top = std::max(top, i * (process() + 1));
    });
    sums.combine();
    bool const right = largest == 9'999 * processes();
    EXPECT_EQ(said_anywhere(right ? wrong_in(charge, 10.0 * processes()) : std::to_string(largest)), "") << each.name;
  }
}

TEST(TbbReducer, CombinesByAThreadThatHasJoinedBefore) {
  tasks on;
  auto const threads = team::adopt(1);
  mpi::team all(MPI_COMM_WORLD, *threads);
  std::vector<double> bins(count);
  tbb::reducer sum(all, std::span(bins));
  auto me = all.join(0);
  on.add_to(sum);
  sum.combine(combining::assign);
  EXPECT_EQ(said_anywhere(wrong_in(bins, serial_sum())), "");
}

TEST(TbbReducer, OfAnotherLengthInOneProcessIsAnErrorOnAll) {
  if (processes() == 1) GTEST_SKIP() << "no other process";
  for (way const& each : ways()) {
    auto const threads = each.threads();
    mpi::team all(MPI_COMM_WORLD, *threads);
    tbb::reducer<double> sum(all, count);
    std::vector<double> got(all.first() == 0 ? count + 1 : count);
    auto const thrown = outcome_of([&] { sum.combine_into(got); });
    bool const is_told = thrown.message.find("an array of 20001") != std::string::npos;
    EXPECT_EQ(said_anywhere(is_told ? "" : "not refused: " + thrown.message), "") << each.name;
  }
}

struct fails_at_seven {
  int operator()(int a, int b) const {
    if (a + b == 7) throw std::runtime_error("seven");
    return a + b;
  }
};

TEST(TbbReducer, OfAnOperationThatThrowsEndsOnAll) {
  if (processes() == 1) GTEST_SKIP() << "no other process";
  for (way const& each : ways()) {
    auto const threads = each.threads();
    mpi::team all(MPI_COMM_WORLD, *threads);
    std::vector<int> got(count);
    tbb::reducer sum(all, std::span(got), fails_at_seven(), 0);
    if (all.first() == 0) {
      sum.local()[5] = 3;
      std::thread([&] { sum.local()[5] = 4; }).join();
    }
    auto const thrown = outcome_of([&] { sum.combine(combining::assign); });
    EXPECT_EQ(said_anywhere(thrown.message.find("seven") != std::string::npos || thrown.type == type_name<aborted>()
                                ? ""
                                : "ended with " + thrown.type + " " + thrown.message),
              "")
        << each.name;
  }
}

TEST(TbbReducer, OfATeamThatAdoptsSeveralThreadsIsRefusedOnAll) {
  if (processes() == 1) GTEST_SKIP() << "one process combines by tasks alone";
  auto const threads = team::adopt(process() == 0 ? 2 : 1);
  mpi::team all(MPI_COMM_WORLD, *threads);
  std::vector<double> bins(count);
  tbb::reducer sum(all, std::span(bins));
  auto const thrown = outcome_of([&] { sum.combine(); });
  bool const is_told = thrown.message.find("2 adopted threads") != std::string::npos;
  EXPECT_EQ(said_anywhere(is_told ? "" : "not refused: " + thrown.message), "");
  EXPECT_EQ(said_anywhere(outcome_of([&] { sum.view(); }).type == type_name<argument_error>() ? "" : "viewed"), "");
}

}  // namespace
}  // namespace coset::mpi_test
