// SPDX-License-Identifier: Apache-2.0
// Operations in flight beside all else that a program may do meanwhile.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "world.hpp"

namespace coset::interpose_test {
namespace {

using RequestsInterposed = all_ranks_heard;

std::vector<sum_under_way> many(MPI_Comm on, int how_many) {
  std::vector<sum_under_way> sums;
  for (int i = 0; i < how_many; ++i) sums.emplace_back(on, i);
  return sums;
}

std::vector<MPI_Request> requests_of(std::vector<sum_under_way> const& sums) {
  std::vector<MPI_Request> all;
  for (auto const& sum : sums) all.push_back(sum.request);
  return all;
}

void expect_right(std::vector<sum_under_way> const& sums) {
  for (auto const& sum : sums) sum.expect_right();
}

int count_of(std::vector<MPI_Request> const& all) { return static_cast<int>(all.size()); }

/// So long that no rank can end it without the others' help.
constexpr int long_sum = 100'000;

/// Rank 0 begins a sum, then does what ends only when the others have ended that sum, which they begin later.
template <class First, class Others>
void while_a_sum_is_in_flight(First const& first, Others const& others) {
  if (ranks() == 1) return;
  own_world on;
  int token = 0;
  if (rank() > 0) MPI_Recv(&token, 1, MPI_INT, 0, 4, on, MPI_STATUS_IGNORE);
  sum_under_way sum(on, 0, long_sum);
  for (int to = 1; rank() == 0 && to < ranks(); ++to) MPI_Send(&token, 1, MPI_INT, to, 4, on);
  if (rank() == 0) {
    first(on);
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    others(on);
  }
  sum.expect_right();
}

constexpr int long_message = 1 << 20;

}  // namespace

/// The team of MPI_COMM_SELF would refuse it, and what is in flight is the parent's.
TEST_F(RequestsInterposed, AForkedChildsCallsGoToMpiAndItMayExit) {
  make_team_of(MPI_COMM_SELF);
  own_world on;
  sum_under_way sum(on, 0, long_sum);
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    int const one = 1;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    exit(all == 1 ? 3 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 3 << 8);
  MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
  sum.expect_right();
}

TEST_F(RequestsInterposed, MoreThanAMemberMayHaveAtOnceWaitForTheirTurn) {
  own_world on;
  auto sums = many(on, 30);
  auto requests = requests_of(sums);
  EXPECT_EQ(MPI_Waitall(count_of(requests), requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  for (MPI_Request const one : requests) EXPECT_EQ(one, MPI_REQUEST_NULL);
  expect_right(sums);
}

TEST_F(RequestsInterposed, EndInAnyOrderThatAProgramWaitsIn) {
  own_world on;
  auto sums = many(on, 12);
  for (std::size_t i = sums.size(); i-- > 0;) MPI_Wait(&sums[i].request, MPI_STATUS_IGNORE);
  expect_right(sums);
}

TEST_F(RequestsInterposed, AreFoundByAllFunctionsThatWait) {
  own_world on;
  auto sums = many(on, 12);
  auto requests = requests_of(sums);
  MPI_Status status;
  int which, flag = 0, some = 0;
  std::vector<int> at(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  MPI_Waitany(count_of(requests), requests.data(), &which, &status);
  EXPECT_TRUE(which >= 0 && which < count_of(requests));
  MPI_Waitsome(count_of(requests), requests.data(), &some, at.data(), statuses.data());
  EXPECT_GE(some, 1);
  while (flag == 0) MPI_Testany(count_of(requests), requests.data(), &which, &flag, &status);
  for (some = 0; some == 0;) MPI_Testsome(count_of(requests), requests.data(), &some, at.data(), statuses.data());
  for (flag = 0; flag == 0;) MPI_Testall(count_of(requests), requests.data(), &flag, statuses.data());
  expect_right(sums);
}

TEST_F(RequestsInterposed, AreLookedAtWithoutEnding) {
  own_world on;
  sum_under_way sum(on);
  MPI_Status status;
  for (int flag = 0; flag == 0;) MPI_Request_get_status(sum.request, &flag, &status);
  EXPECT_NE(sum.request, MPI_REQUEST_NULL);
  int flag = 0;
  MPI_Test(&sum.request, &flag, &status);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(sum.request, MPI_REQUEST_NULL);
  sum.expect_right();
}

TEST_F(RequestsInterposed, EndWithAnEmptyStatus) {
  own_world on;
  sum_under_way sum(on);
  MPI_Status status;
  status.MPI_ERROR = MPI_SUCCESS;
  MPI_Wait(&sum.request, &status);
  int count = -1, cancelled = 1;
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cancelled, 0);
}

TEST_F(RequestsInterposed, GoOnWhileTheirProcessReceives) {
  while_a_sum_is_in_flight(
      [](MPI_Comm on) {
        int got = 0;
        for (int from = 1; from < ranks(); ++from) MPI_Recv(&got, 1, MPI_INT, from, 5, on, MPI_STATUS_IGNORE);
        EXPECT_EQ(got, 17);
      },
      [](MPI_Comm on) {
        int const sent = 17;
        MPI_Send(&sent, 1, MPI_INT, 0, 5, on);
      });
}

TEST_F(RequestsInterposed, GoOnWhileTheirProcessSendsWhatNobodyReceivesYet) {
  while_a_sum_is_in_flight(
      [](MPI_Comm on) {
        std::vector<char> const sent(long_message, 'x');
        for (int to = 1; to < ranks(); ++to) MPI_Send(sent.data(), long_message, MPI_CHAR, to, 6, on);
        for (int to = 1; to < ranks(); ++to) MPI_Ssend(sent.data(), 1, MPI_CHAR, to, 7, on);
      },
      [](MPI_Comm on) {
        std::vector<char> got(long_message);
        MPI_Recv(got.data(), long_message, MPI_CHAR, 0, 6, on, MPI_STATUS_IGNORE);
        EXPECT_EQ(got.back(), 'x');
        MPI_Recv(got.data(), 1, MPI_CHAR, 0, 7, on, MPI_STATUS_IGNORE);
      });
}

TEST_F(RequestsInterposed, GoOnWhileTheirProcessProbes) {
  while_a_sum_is_in_flight(
      [](MPI_Comm on) {
        int got = 0;
        for (int from = 1; from < ranks(); ++from) {
          MPI_Status status;
          MPI_Probe(from, 8, on, &status);
          MPI_Recv(&got, 1, MPI_INT, from, 8, on, &status);
          MPI_Message message;
          MPI_Mprobe(from, 9, on, &message, &status);
          MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
        }
      },
      [](MPI_Comm on) {
        int const sent = 1;
        MPI_Send(&sent, 1, MPI_INT, 0, 8, on);
        MPI_Send(&sent, 1, MPI_INT, 0, 9, on);
      });
}

TEST_F(RequestsInterposed, GoOnWhileTheirProcessWaitsForAnotherRequest) {
  while_a_sum_is_in_flight(
      [](MPI_Comm on) {
        std::vector<int> got(static_cast<std::size_t>(ranks()));
        std::vector<MPI_Request> all;
        for (int from = 1; from < ranks(); ++from)
          MPI_Irecv(&got[static_cast<std::size_t>(from)], 1, MPI_INT, from, 10, on, &all.emplace_back());
        MPI_Waitall(count_of(all), all.data(), MPI_STATUSES_IGNORE);
      },
      [](MPI_Comm on) {
        int const sent = 1;
        MPI_Send(&sent, 1, MPI_INT, 0, 10, on);
      });
}

TEST_F(RequestsInterposed, GoOnWhileTheirProcessIsInACollectiveOfAnotherCommunicator) {
  own_world other;
  auto const meet = [&](MPI_Comm) {
    std::vector<int> in(static_cast<std::size_t>(ranks()), rank()), out(in.size());
    MPI_Alltoall(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, other);
    EXPECT_EQ(out.back(), ranks() - 1);
    MPI_Barrier(other);
    int sum = 0;
    MPI_Allreduce(&in[0], &sum, 1, MPI_INT, MPI_SUM, other);
    EXPECT_EQ(sum, ranks() * (ranks() - 1) / 2);
    MPI_Gather(&in[0], 1, MPI_INT, out.data(), 1, MPI_INT, 0, other);
    MPI_Scatter(out.data(), 1, MPI_INT, &sum, 1, MPI_INT, 0, other);
    EXPECT_EQ(sum, rank());
  };
  while_a_sum_is_in_flight(meet, meet);
}

TEST_F(RequestsInterposed, GoOnWhileTheirProcessIsInABlockingCallOfAnotherCommunicator) {
  own_world other;
  auto const meet = [&](MPI_Comm) {
    int const one = 1;
    int sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    EXPECT_EQ(sum, ranks());
  };
  while_a_sum_is_in_flight(meet, meet);
}

TEST_F(RequestsInterposed, BesideBlockingCallsOfTheSameCommunicatorKeepTheOrderOfCalls) {
  own_world on;
  for (int turn = 0; turn < 20; ++turn) {
    // On rank 0 all have begun when the blocking call comes, on the others some wait for their turn.
    int token = 0;
    for (int from = 1; rank() == 0 && from < ranks(); ++from)
      MPI_Recv(&token, 1, MPI_INT, from, 4, on, MPI_STATUS_IGNORE);
    auto sums = many(on, turn % 12);
    if (rank() > 0) MPI_Send(&token, 1, MPI_INT, 0, 4, on);
    for (std::size_t i = 0; rank() == 0 && i < std::min<std::size_t>(sums.size(), 4); ++i)
      MPI_Wait(&sums[i].request, MPI_STATUS_IGNORE);
    int const one = 1;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, on);
    EXPECT_EQ(all, ranks());
    auto requests = requests_of(sums);
    MPI_Waitall(count_of(requests), requests.data(), MPI_STATUSES_IGNORE);
    expect_right(sums);
  }
}

TEST_F(RequestsInterposed, OfBroadcastsFromEachRankInTurn) {
  own_world on;
  std::vector<std::vector<int>> data;
  std::vector<MPI_Request> all;
  for (int root = 0; root < ranks(); ++root) {
    data.emplace_back(2000, rank() == root ? root + 100 : 0);
    MPI_Ibcast(data.back().data(), 2000, MPI_INT, root, on, &all.emplace_back());
  }
  MPI_Waitall(count_of(all), all.data(), MPI_STATUSES_IGNORE);
  for (int root = 0; root < ranks(); ++root) EXPECT_EQ(data[static_cast<std::size_t>(root)][1999], root + 100);
}

TEST_F(RequestsInterposed, OnACommunicatorWithoutATeamAreMpis) {
  MPI_Comm young;
  MPI_Comm_dup(MPI_COMM_WORLD, &young);
  sum_under_way first(young, 3);
  make_team_of(young);  // while the first is in flight
  sum_under_way second(young, 4);
  MPI_Wait(&second.request, MPI_STATUS_IGNORE);
  MPI_Wait(&first.request, MPI_STATUS_IGNORE);
  first.expect_right();
  second.expect_right();
  MPI_Comm_free(&young);
}

TEST_F(RequestsInterposed, LetGoOfAreCarriedOutAllTheSame) {
  own_world on;
  std::vector<int> in(100, 1), out(100);
  MPI_Request request;
  MPI_Iallreduce(in.data(), out.data(), 100, MPI_INT, MPI_SUM, on, &request);
  MPI_Request later;
  MPI_Ibarrier(on, &later);
  MPI_Wait(&later, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(out[99], ranks());
}

TEST_F(RequestsInterposed, KeepWhatAProgramFreesMeanwhile) {
  MPI_Comm on;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  make_team_of(on);
  MPI_Op by;
  MPI_Op_create(
      [](void* in, void* inout, int* count, MPI_Datatype*) {
        for (int i = 0; i < 2 * *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &by);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  std::vector<int> in(200, rank()), out(200);
  MPI_Request request;
  MPI_Iallreduce(in.data(), out.data(), 100, two, by, on, &request);
  MPI_Op_free(&by);
  MPI_Type_free(&two);
  MPI_Comm_free(&on);
  EXPECT_EQ(by, MPI_OP_NULL);
  EXPECT_EQ(two, MPI_DATATYPE_NULL);
  EXPECT_EQ(on, MPI_COMM_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int const each : out) EXPECT_EQ(each, ranks() * (ranks() - 1) / 2);
}

TEST_F(RequestsInterposed, PersistentOnesAreStartedAgainAndAgain) {
  own_world on;
  std::vector<int> in(50), out(50);
  MPI_Request sum, meeting;
  make_persistent({verb::allreduce, in.data(), out.data(), 50, {}, {}, MPI_INT, MPI_SUM, 0, on}, &sum);
  make_persistent({verb::barrier, nullptr, nullptr, 0, {}, {}, MPI_BYTE, MPI_OP_NULL, 0, on}, &meeting);
  for (int turn = 0; turn < 30; ++turn) {
    for (int& each : in) each = rank() + turn;
    std::array both = {sum, meeting};
    if (turn % 2 == 0) {
      MPI_Startall(2, both.data());
      MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
    } else {
      MPI_Start(&sum);
      MPI_Wait(&sum, MPI_STATUS_IGNORE);
    }
    EXPECT_EQ(out[49], ranks() * turn + ranks() * (ranks() - 1) / 2);
    MPI_Wait(&sum, MPI_STATUS_IGNORE);  // inactive: returns at once
  }
  MPI_Request_free(&sum);
  MPI_Request_free(&meeting);
}

/// MPI 4.0, section 6.13: the order of starts may differ among processes.
TEST_F(RequestsInterposed, PersistentOnesAreStartedInAnyOrder) {
  own_world on;
  std::vector<int> ones(20, 1), tens(20, 10), of_ones(20), of_tens(20);
  MPI_Request requests[2];
  make_persistent({verb::allreduce, ones.data(), of_ones.data(), 20, {}, {}, MPI_INT, MPI_SUM, 0, on}, &requests[0]);
  make_persistent({verb::allreduce, tens.data(), of_tens.data(), 20, {}, {}, MPI_INT, MPI_SUM, 0, on}, &requests[1]);
  for (int turn = 0; turn < 10; ++turn) {
    std::ranges::fill(of_ones, 0);
    std::ranges::fill(of_tens, 0);
    int const first = (rank() + turn) % 2;
    MPI_Start(&requests[first]);
    int const one = 1;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, on);  // between them, on any rank
    MPI_Start(&requests[1 - first]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(all, ranks());
    EXPECT_EQ(of_ones[19], ranks());
    EXPECT_EQ(of_tens[19], 10 * ranks());
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

TEST_F(RequestsInterposed, PersistentOnesThatAreFreedMakeRoomForOthers) {
  own_world on;
  int one = 1;
  for (int turn = 0; turn < 80; ++turn) {
    int all = 0;
    MPI_Request request;
    make_persistent({verb::allreduce, &one, &all, 1, {}, {}, MPI_INT, MPI_SUM, 0, on}, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(all, ranks());
    MPI_Request_free(&request);
  }
}

TEST_F(RequestsInterposed, PersistentOnesTakeOtherCountsThanTheCallersArraysHaveLater) {
  own_world on;
  std::vector<int> counts(static_cast<std::size_t>(ranks()), 3), in(static_cast<std::size_t>(3 * ranks()), 2), out(3);
  MPI_Request request;
  call const made{verb::reduce_scatter, in.data(), out.data(), 0, counts, {}, MPI_INT, MPI_SUM, 0, on};
  make_persistent(made, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(out[2], 2 * ranks());
  MPI_Request_free(&request);
}

TEST_F(RequestsInterposed, OfSeveralThreadsGoOnTogether) {
  int level;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  constexpr int threads = 3;
  std::array<MPI_Comm, threads> on;
  for (MPI_Comm& each : on) {
    MPI_Comm_dup(MPI_COMM_WORLD, &each);
    make_team_of(each);
  }
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int turn = 0; turn < 30; ++turn) {
        sum_under_way sum(on[static_cast<std::size_t>(t)], turn + t, 1000);
        int const one = 1;
        int count = 0;
        if (turn % 3 == 0) MPI_Allreduce(&one, &count, 1, MPI_INT, MPI_SUM, on[static_cast<std::size_t>(t)]);
        MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
        sum.expect_right();
      }
    });
  }
  for (auto& each : all) each.join();
  for (MPI_Comm& each : on) MPI_Comm_free(&each);
}

}  // namespace coset::interpose_test
