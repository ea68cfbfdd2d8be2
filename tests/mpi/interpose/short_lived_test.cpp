// SPDX-License-Identifier: Apache-2.0
// Communicators that live for a few calls, and the teams that one leaves to the next.
#include <array>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "world.hpp"

namespace coset::interpose_test {
namespace {

using ShortLivedInterposed = all_ranks_heard;

/// Below, at and beyond those at which a team is asked for, and made.
constexpr std::array numbers_of_calls{0, 1, 2, 9, 26, 27, 28, 40, 60};

int turns() { return static_cast<unsigned>(ranks()) > std::thread::hardware_concurrency() ? 2 : 6; }

/// Whose ranks are not alike in what they bring.
void expect_right_results(MPI_Comm on, int salt) {
  int const n = ranks_of(on), self = rank_in(on);
  int const mine = salt + self;
  int sum = 0, before = 0, from_last = mine;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, on);
  ASSERT_EQ(sum, n * salt + n * (n - 1) / 2);
  MPI_Scan(&mine, &before, 1, MPI_INT, MPI_SUM, on);
  ASSERT_EQ(before, (self + 1) * salt + self * (self + 1) / 2);
  MPI_Bcast(&from_last, 1, MPI_INT, n - 1, on);
  ASSERT_EQ(from_last, salt + n - 1);
  std::vector<int> all(static_cast<std::size_t>(n));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, on);
  for (int r = 0; r < n; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], salt + r);
}

void use(MPI_Comm on, int calls) {
  for (int call = 0; call < calls / 4; ++call) expect_right_results(on, call);
  for (int call = 0; call < calls % 4; ++call) MPI_Barrier(on);
}

MPI_Comm duplicate_of(MPI_Comm of) {
  MPI_Comm made;
  MPI_Comm_dup(of, &made);
  return made;
}

MPI_Comm part_of(MPI_Comm of, int colour, int key) {
  MPI_Comm made;
  MPI_Comm_split(of, colour, key, &made);
  return made;
}

/// Processes of which none, one or several have another place than in MPI_COMM_WORLD.
std::vector<std::function<MPI_Comm()>> makers() {
  return {[] { return duplicate_of(MPI_COMM_WORLD); },
          [] { return part_of(MPI_COMM_WORLD, 0, -rank()); },
          [] { return part_of(MPI_COMM_WORLD, 0, rank() == 0 ? ranks() : rank()); },
          [] { return part_of(MPI_COMM_WORLD, rank() % 2, 0); },
          [] { return part_of(MPI_COMM_WORLD, rank() % 2, -rank()); },
          [] { return part_of(MPI_COMM_WORLD, rank() < (ranks() + 1) / 2 ? 0 : 1, 0); }};
}

void free_all(std::vector<MPI_Comm>& all) {
  for (MPI_Comm& each : all) MPI_Comm_free(&each);
}

}  // namespace

TEST_F(ShortLivedInterposed, GiveRightResultsHoweverManyCallsTheyLive) {
  for (auto const& make : makers())
    for (int const calls : numbers_of_calls)
      for (int turn = 0; turn < turns(); ++turn) {
        MPI_Comm on = make();
        use(on, calls);
        MPI_Comm_free(&on);
      }
}

TEST_F(ShortLivedInterposed, OfSeveralKindsTakeTurns) {
  for (int turn = 0; turn < 3 * turns(); ++turn)
    for (auto const& make : makers()) {
      MPI_Comm on = make();
      make_team_of(on);
      use(on, 12);
      MPI_Comm_free(&on);
    }
}

TEST_F(ShortLivedInterposed, OfTheSameProcessesLiveAtOnceAndEndInAnyOrder) {
  for (auto const& make : makers())
    for (int turn = 0; turn < turns(); ++turn) {
      std::vector<MPI_Comm> all;
      for (int k = 0; k < 3; ++k) {
        all.push_back(make());
        make_team_of(all.back());
      }
      for (int k = 0; k < 5; ++k)
        for (MPI_Comm const each : all) expect_right_results(each, k);
      std::swap(all[0], all[static_cast<std::size_t>(turn % 3)]);
      MPI_Comm_free(&all[0]);
      expect_right_results(all[1], turn);
      all[0] = make();
      make_team_of(all[0]);
      expect_right_results(all[0], turn);
      expect_right_results(all[2], turn);
      free_all(all);
    }
}

TEST_F(ShortLivedInterposed, LeaveTheirTeamToDuplicatesOfThem) {
  for (auto const& make : makers())
    for (int turn = 0; turn < turns(); ++turn) {
      MPI_Comm first = make();
      make_team_of(first);
      MPI_Comm second = duplicate_of(first);
      MPI_Comm_free(&first);
      make_team_of(second);
      expect_right_results(second, turn);
      MPI_Comm third = part_of(second, 0, rank_in(second));
      MPI_Comm_free(&second);
      make_team_of(third);
      expect_right_results(third, turn);
      MPI_Comm_free(&third);
    }
}

/// Nobody waits in MPI_Comm_free: rank 0 may be in it while the others still use another one of the same processes.
TEST_F(ShortLivedInterposed, EndWithoutWaiting) {
  for (int turn = 0; turn < turns(); ++turn) {
    MPI_Comm first = duplicate_of(MPI_COMM_WORLD), second = duplicate_of(MPI_COMM_WORLD);
    make_team_of(first);
    make_team_of(second);
    if (rank() == 0) MPI_Comm_free(&first);
    expect_right_results(second, turn);
    MPI_Comm third = duplicate_of(second);
    make_team_of(third);  // not with what only rank 0 has given back
    expect_right_results(third, turn);
    if (rank() != 0) {
      MPI_Comm_free(&first);
    }
    expect_right_results(third, turn);
    MPI_Comm_free(&second);
    MPI_Comm_free(&third);
  }
}

TEST_F(ShortLivedInterposed, EndAfterWhatIsInFlight) {
  for (int turn = 0; turn < turns(); ++turn) {
    MPI_Comm on = duplicate_of(MPI_COMM_WORLD);
    make_team_of(on);
    std::vector<sum_under_way> sums;
    for (int k = 0; k < 12; ++k) sums.emplace_back(on, turn + k, 1000);
    std::vector<MPI_Request> requests;
    for (auto const& each : sums) requests.push_back(each.request);
    if (turn % 2 == 0) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    std::vector<MPI_Comm> freed{on};
    if (turn % 2 != 0) {  // their communicator is gone before they are waited for
      MPI_Comm_free(&freed[0]);
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
    MPI_Comm next = duplicate_of(MPI_COMM_WORLD);
    make_team_of(next);
    expect_right_results(next, turn);
    if (freed[0] != MPI_COMM_NULL) {
      for (auto const& each : sums) each.expect_right();
      MPI_Comm_free(&freed[0]);
    }
    MPI_Comm_free(&next);
  }
}

/// Its processes have come to different operations there.
TEST_F(ShortLivedInterposed, DoNotTakeTheTeamOfOneThatFailed) {
  if (ranks() == 1) return;
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Comm on = duplicate_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
    make_team_of(on);
    said_by_all("");  // none is still in there
    std::vector<int> in(10, 1), out(10);
    EXPECT_NE(MPI_Allreduce(in.data(), out.data(), rank() == 0 ? 9 : 10, MPI_INT, MPI_SUM, on), MPI_SUCCESS);
    MPI_Comm_free(&on);
    MPI_Comm next = duplicate_of(MPI_COMM_WORLD);
    make_team_of(next);
    use(next, 40);
    MPI_Comm_free(&next);
  }
}

/// Each request has a team of its own, which is left as well.
TEST_F(ShortLivedInterposed, MayHavePersistentRequests) {
  for (auto const& make : makers())
    for (int turn = 0; turn < turns(); ++turn) {
      MPI_Comm on = make();
      make_team_of(on);
      int const n = ranks_of(on), mine = rank_in(on) + turn;
      int sum = 0;
      MPI_Request request;
      make_persistent({verb::allreduce, &mine, &sum, 1, {}, {}, MPI_INT, MPI_SUM, 0, on}, &request);
      for (int start = 0; start < 3; ++start) {
        sum = 0;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        ASSERT_EQ(sum, n * turn + n * (n - 1) / 2);
      }
      MPI_Request_free(&request);
      MPI_Comm_free(&on);
    }
}

/// Last: what is left when MPI ends.
TEST_F(ShortLivedInterposed, LeaveTeamsThatEndWithMpi) {
  std::vector<MPI_Comm> all;
  for (auto const& make : makers()) {
    all.push_back(make());
    make_team_of(all.back());
  }
  for (std::size_t k = 0; k < all.size(); k += 2) MPI_Comm_free(&all[k]);
}

}  // namespace coset::interpose_test
