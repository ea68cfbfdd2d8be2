// SPDX-License-Identifier: Apache-2.0
// Calls of which either the team or MPI is the faster.
#include <numeric>

#include "world.hpp"

namespace coset::interpose_test {
namespace {

using JudgeInterposed = all_ranks_heard;

std::size_t of(int count) { return static_cast<std::size_t>(count); }

/// Rank r's elements, or of what it has for rank r.
std::vector<int> numbers(int count, int from) {
  std::vector<int> made(of(count));
  std::iota(made.begin(), made.end(), from);
  return made;
}

}  // namespace

/// Through several trials, whoever wins, with operations in flight beside them.
TEST_F(JudgeInterposed, WhoeverIsFasterGivesTheSame) {
  own_world on;
  std::vector<int> counts, begins;
  for (int r = 0; r < ranks(); ++r) {
    begins.push_back(r * (r + 3) / 2);  // of 2, 3, 4 … elements
    counts.push_back(2 + r);
  }
  int const total = begins.back() + counts.back();
  for (int turn = 0; turn < 700; ++turn) {
    int const root = turn % ranks(), count = turn % 3 == 0 ? 2 : 500;
    sum_under_way sum(on, turn);
    std::vector<int> moved = rank() == root ? numbers(count, turn) : std::vector<int>(of(count));
    MPI_Bcast(moved.data(), count, MPI_INT, root, on);
    ASSERT_EQ(moved, numbers(count, turn)) << turn;
    std::vector<int> gathered(of(total), -1);
    auto const own = numbers(counts[of(rank())], turn + begins[of(rank())]);
    MPI_Gatherv(own.data(), counts[of(rank())], MPI_INT, gathered.data(), counts.data(), begins.data(), MPI_INT, root,
                on);
    ASSERT_EQ(gathered, rank() == root ? numbers(total, turn) : std::vector<int>(of(total), -1)) << turn;
    auto const to_all = numbers(ranks(), turn + rank() * ranks());
    std::vector<int> swapped(of(ranks()));
    MPI_Alltoall(to_all.data(), 1, MPI_INT, swapped.data(), 1, MPI_INT, on);
    for (int r = 0; r < ranks(); ++r) ASSERT_EQ(swapped[of(r)], turn + r * ranks() + rank());
    double const own_number = 1.0 + rank();
    double up_to_here = 0;
    MPI_Scan(&own_number, &up_to_here, 1, MPI_DOUBLE, MPI_SUM, on);
    ASSERT_EQ(up_to_here, (rank() + 1) * (rank() + 2) / 2.0);
    int whole = 0;
    MPI_Reduce(&turn, &whole, 1, MPI_INT, MPI_SUM, root, on);
    ASSERT_EQ(whole, rank() == root ? turn * ranks() : 0);
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    sum.expect_right();
  }
}

/// A process that has carried out the last call of a round agrees with the others, who wait for what it has in flight.
TEST_F(JudgeInterposed, ProcessesAgreeWhileOperationsInFlightGoOn) {
  if (ranks() == 1) return;
  own_world on;
  constexpr int calls_of_trials = 30, long_sum = 1'000'000;
  for (int turn = 0; turn < calls_of_trials; ++turn) {
    int one = rank() == 0 ? turn : -1;
    sum_under_way sum(on, turn, turn % 10 == 9 ? long_sum : 10);
    if (rank() != 0) MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    MPI_Bcast(&one, 1, MPI_INT, 0, on);
    if (rank() == 0) MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    ASSERT_EQ(one, turn);
  }
}

/// Each process has its own count alike in all calls but one, and must not take the other's for the same call.
TEST_F(JudgeInterposed, AllgathersOfOtherCountsAreOtherCalls) {
  own_world on;
  for (int turn = 0; turn < 1200; ++turn) {
    int const last = turn % 100 == 99 ? 10'000 : 1;
    std::vector<int> counts(of(ranks()), 1), begins(of(ranks()));
    counts.back() = last;
    std::iota(begins.begin(), begins.end(), 0);
    std::vector<int> const own(of(counts[of(rank())]), turn + rank());
    std::vector<int> all(of(ranks() - 1 + last));
    MPI_Allgatherv(own.data(), counts[of(rank())], MPI_INT, all.data(), counts.data(), begins.data(), MPI_INT, on);
    ASSERT_EQ(all.front(), turn + (ranks() == 1 ? rank() : 0));
    ASSERT_EQ(all.back(), turn + ranks() - 1);
  }
}

/// After processes have disagreed, none takes what a later call of MPI's has for the result of another.
TEST_F(JudgeInterposed, NothingGoesToMpiOnceTheTeamHasFailed) {
  if (ranks() == 1) return;
  own_world on;
  MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  said_by_all("");               // none is in a call whose errors are fatal
  constexpr int count = 16'383;  // one more is of the next kind, so that processes would take turns out of step
  std::vector<int> data(of(count) + 1);
  int code = MPI_Bcast(data.data(), count + (rank() == 1 ? 1 : 0), MPI_INT, 0, on);
  for (int turn = 0; turn < 40; ++turn) {
    data.assign(data.size(), rank() == 0 ? turn : -1);
    int const again = MPI_Bcast(data.data(), count, MPI_INT, 0, on);
    if (again == MPI_SUCCESS) {
      ASSERT_EQ(data[of(count) - 1], turn);
    } else {
      code = again;
    }
  }
  EXPECT_NE(code, MPI_SUCCESS);
}

}  // namespace coset::interpose_test
