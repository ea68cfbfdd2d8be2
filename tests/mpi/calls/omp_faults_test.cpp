// SPDX-License-Identifier: Apache-2.0
// coset::omp::reduction over processes, where one process's region does something else than the others': an error on all.
#include "coset/omp.hpp"

#include <omp.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#include "mpi/processes.hpp"
#include "team/team_state.hpp"

namespace coset::mpi_test {
namespace {

class OmpOtherwise : public ::testing::Test {
 protected:
  int const threads_here = 2 + process() % 2;
  std::unique_ptr<team> const threads = team::adopt(static_cast<rank_t>(threads_here));
  mpi::team all{MPI_COMM_WORLD, *threads};
  bool const odd = process() == processes() - 1;
  std::vector<double> bins = std::vector<double>(3'000);

  void SetUp() override {
    if (processes() == 1) GTEST_SKIP() << "one process, which agrees with itself";
  }
  /// `body` on each thread of a region of so many; each has to throw, with these words on some thread of some process.
  void expect_told(int region, std::string const& words, std::function<void()> const& body) {
    std::string fault;
    bool is_said = false;
#pragma omp parallel num_threads(region)
    {
      auto const thrown = outcome_of(body);
#pragma omp critical
      {
        if (thrown.type.empty()) fault = "no error";
        if (thrown.message.find(words) != std::string::npos) is_said = true;
        if (!is_said && fault.empty() && omp_get_thread_num() == 0) last_ = thrown.message;
      }
    }
    EXPECT_EQ(said_anywhere(fault), "");
    EXPECT_NE(said_anywhere(is_said ? "said" : ""), "") << words << " is not in: " << last_;
    all.reset();
    expect_works();
  }
  void expect_works() {
    std::ranges::fill(bins, 0);
    bins.resize(3'000);
    omp::reduction sum(all, bins);
#pragma omp parallel num_threads(threads_here)
    {
      sum.local()[2'999] += 1;
      sum.combine();
    }
    EXPECT_EQ(said_anywhere(bins[2'999] == all.size() ? "" : "a wrong sum afterwards"), "");
  }

 private:
  std::string last_;
};

TEST_F(OmpOtherwise, OfRegionsWithFewerThreads) {
  omp::reduction sum(all, bins);
  expect_told(odd ? threads_here - 1 : threads_here, "threads", [&] {
    sum.local()[0] += 1;
    sum.combine();
  });
}

TEST_F(OmpOtherwise, IntoATargetThatHasGrown) {
  omp::reduction sum(all, bins);
  if (odd) bins.resize(3'001);
  expect_told(threads_here, "3001", [&] {
    sum.local()[0] += 1;
    sum.combine();
  });
}

TEST_F(OmpOtherwise, IntoAnotherArrayOfAnotherLength) {
  omp::reduction sum(all, bins);
  std::vector<double> other(odd ? 2'999 : 3'000);
  expect_told(threads_here, "2999", [&] {
    sum.local()[0] += 1;
    sum.combine_into(other);
  });
}

TEST_F(OmpOtherwise, InSplitPhaseIntoATargetThatHasGrown) {
  omp::reduction sum(all, bins);
  if (odd) bins.resize(3'001);
  expect_told(threads_here, "3001", [&] {
    auto me = all.join(static_cast<rank_t>(omp_get_thread_num()));
    sum.local()[0] += 1;
    sum.start_combine(*me).wait();
  });
}

TEST_F(OmpOtherwise, AddedOrAssigned) {
  omp::reduction sum(all, bins);
  std::vector<float> grid(100'000);
  omp::sparse_reduction<float> sparse(all, std::span(grid));
  auto const how = odd ? combining::add : combining::assign;
  expect_told(threads_here, "", [&] {
    sum.local()[0] += 1;
    sum.combine(how);
    sum.combine(how);
  });
  expect_told(threads_here, "", [&] {
    sparse.local()[0] += 1;
    sparse.combine(how);
    sparse.combine(how);
  });
}

TEST_F(OmpOtherwise, InPlaceOrNot) {
  omp::reduction sum(all, bins);
  omp::reduction in_targets(omp::in_place, all, bins);
  expect_told(threads_here, "", [&] {
    auto& mine = odd ? in_targets : sum;
    mine.local()[0] += 1;
    mine.combine();
    mine.combine();
  });
}

TEST_F(OmpOtherwise, WithMembersOfTheRegionAlone) {
  omp::reduction sum(all, bins);
  omp::sparse_reduction<double> sparse(all, std::span(bins));
  expect_told(threads_here, "another team", [&] {
    omp::member_here me;
    sum.start_combine(me).wait();
  });
  expect_told(threads_here, "another team", [&] {
    omp::member_here me;
    sparse.start_combine(me).wait();
  });
}

TEST_F(OmpOtherwise, IntoPartsThatAreMoreThanThereCanBe) {
  omp::reduction sum(all, bins);
  std::vector<std::size_t> counts(static_cast<std::size_t>(processes()), 0);
  counts[0] = std::numeric_limits<std::size_t>::max();
  counts[1] = 3'001;
  expect_told(threads_here, "add up to", [&] {
    sum.local()[0] += 1;
    sum.combine(combining::add, destination::parts(counts));
  });
}

/// Whose tasks are those of its only thread.
TEST_F(OmpOtherwise, InRegionsOfOneThread) {
  auto const only = team::adopt(1);
  mpi::team ones(MPI_COMM_WORLD, *only);
  int sum = 0;
  omp::reduction all_sums(ones, sum);
  for (int round = 1; round < 4; ++round) {
#pragma omp parallel num_threads(1)
    {
      auto&& mine = all_sums.local();
#pragma omp task shared(mine)
      mine += 1;
      all_sums.combine();
    }
    EXPECT_EQ(sum, round * processes());
  }
}

struct throws_at_seven {
  double operator()(double a, double b) const {
    if (a == 7 || b == 7) throw std::runtime_error("seven");
    return a + b;
  }
};

TEST_F(OmpOtherwise, ByAnOperationThatThrows) {
  for (bool const in_target : {false, true}) {
    omp::reduction sum(all, into(bins, throws_at_seven(), 0.0));
    std::ranges::fill(bins, in_target && odd ? 7 : 0);
    expect_told(threads_here, "seven", [&] {
      sum.local()[1] = odd && !in_target ? 7 : 1;
      sum.combine();
    });
  }
}

/// A thread that hears of a failure leaves its region; the others hear of it, too, where they wait for that thread.
TEST_F(OmpOtherwise, ByAllThreadsButOneThatHasFailed) {
  for (bool const in_split_phase : {false, true}) {
    omp::reduction sum(all, bins);
    expect_told(threads_here, "there is no root 1000", [&] {
      auto me = all.join(static_cast<rank_t>(omp_get_thread_num()));
      sum.local()[0] += 1;
      if (odd && omp_get_thread_num() == 1) [[maybe_unused]]
        int const wrong = broadcast(*me, 1, 1'000);
      if (in_split_phase) return sum.start_combine(*me).wait();
      sum.combine();
    });
  }
}

/// That thread waits for nobody, so nobody but this region's others can tell.
TEST_F(OmpOtherwise, ByAllThreadsButOneThatIsAtABarrierBehind) {
  omp::reduction sum(all, bins);
  auto& limits = detail::any_team(all).state().shared.patience.limits;
  // Of the others' waits the time is not over before: they would tell of ranks that have not come.
  limits = {std::chrono::milliseconds(100), std::chrono::milliseconds(odd ? 400 : 0)};
  ::testing::internal::CaptureStderr();
  std::string const named = "process " + std::to_string(processes() - 1) + ": " + std::to_string(threads_here - 1) +
                            " of " + std::to_string(threads_here) + " threads";
  expect_told(threads_here, named, [&] {
    sum.local()[0] += 1;
    if (!odd || omp_get_thread_num() != 1) return sum.combine();
    auto me = all.join(1);
    while (!me->state().shared.failed()) std::this_thread::yield();
    throw std::runtime_error("was elsewhere");
  });
  limits = {};
  EXPECT_NE(said_anywhere(::testing::internal::GetCapturedStderr()).find("stuck? "), std::string::npos);
}

TEST_F(OmpOtherwise, AProcessThatDoesNotComeIsNamed) {
  omp::reduction sum(all, bins);
  auto& limits = detail::any_team(all).state().shared.patience.limits;
  limits = {std::chrono::milliseconds(100), std::chrono::milliseconds(400)};
  ::testing::internal::CaptureStderr();
  std::string fault;
#pragma omp parallel num_threads(threads_here)
  if (!odd) {
    sum.local()[0] += 1;
    auto const thrown = outcome_of([&] { sum.combine(); });
    if (thrown.type != type_name<timed_out>()) {
#pragma omp critical
      fault = thrown.type + thrown.message;
    }
  }
  EXPECT_EQ(said_anywhere(fault), "");
  limits = {};
  std::string const text = said_anywhere(::testing::internal::GetCapturedStderr());
  rank_t first = odd ? all.first() : 0;
  MPI_Bcast(&first, 1, MPI_UINT32_T, processes() - 1, MPI_COMM_WORLD);
  EXPECT_NE(text.find(std::to_string(first)), std::string::npos) << text;
  EXPECT_NE(text.find("stuck?"), std::string::npos) << text;
  EXPECT_NE(text.find("3000 double"), std::string::npos) << text;
  all.reset();
  expect_works();
}

TEST_F(OmpOtherwise, InANestedRegion) {
  omp::reduction sum(all, bins);
  expect_told(threads_here, "region", [&] {
    sum.local()[0] += 1;
    if (!odd) return sum.combine();
    std::optional<argument_error> refused;
#pragma omp parallel num_threads(1)
    try {
      sum.combine();
    } catch (argument_error const& thrown) {
      refused = thrown;
    }
    if (refused) throw *refused;
  });
}

}  // namespace
}  // namespace coset::mpi_test
