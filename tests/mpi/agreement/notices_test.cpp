// SPDX-License-Identifier: Apache-2.0
// Notices are heard before their communicator ends, however many are under way.
#include <algorithm>

#include "mpi/processes.hpp"
#include "mpi/transport/failure_notices.hpp"

namespace coset::mpi_test {
namespace {

using mpi::communicator;
using mpi::failure_notices;

int left_under_way(communicator const& on) {
  int left = 0;
  MPI_Barrier(on.get());
  for (int look = 0; look < 1000; ++look) {
    int there = 0;
    MPI_Status of;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, on.get(), &there, &of);
    if (there == 0) continue;
    ++left;
    mpi::notice ignored{};
    MPI_Recv(&ignored, sizeof ignored, MPI_BYTE, of.MPI_SOURCE, of.MPI_TAG, on.get(), MPI_STATUS_IGNORE);
  }
  return left;
}

class Notices : public ::testing::TestWithParam<int> {};

TEST_P(Notices, AreAllHeardBeforeTheirCommunicatorEnds) {
  int const tellers = std::min(GetParam(), processes());
  auto const on = communicator::duplicate_of(MPI_COMM_WORLD);
  {
    failure_notices notices(on);
    for (int times = 0; process() < tellers && times < 3; ++times) notices.take_leave(1);
    notices.hear_the_rest();
  }
  EXPECT_EQ(said_anywhere(left_under_way(on) == 0 ? "" : "something is under way"), "");
}

TEST_P(Notices, ThatWereHeardEarlierAreNotAwaitedAgain) {
  int const tellers = std::min(GetParam(), processes());
  auto const on = communicator::duplicate_of(MPI_COMM_WORLD);
  failure_notices notices(on);
  if (process() < tellers) notices.tell(1, runtime::cause::aborted, "of one run");
  int const others = tellers - (process() < tellers ? 1 : 0);
  for (int heard = 0; heard < others;) heard += notices.heard() ? 1 : 0;
  if (process() < tellers) notices.tell(2, runtime::cause::aborted, "of the next run");
  notices.hear_the_rest();
}

INSTANTIATE_TEST_SUITE_P(Of, Notices, ::testing::Values(0, 1, 3));

}  // namespace
}  // namespace coset::mpi_test
