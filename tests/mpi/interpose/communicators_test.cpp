// SPDX-License-Identifier: Apache-2.0
// Communicators that come and go, their attributes and their errors.
#include <string>
#include <thread>

#include "world.hpp"

namespace coset::interpose_test {
namespace {

using CommunicatorsInterposed = all_ranks_heard;

int sum_of_ones(MPI_Comm on) {
  int const one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, on);
  return sum;
}

int class_of(int code) {
  int its_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &its_class);
  return its_class;
}

}  // namespace

TEST_F(CommunicatorsInterposed, MayComeAndGoOften) {
  // More ranks than processors wait for milliseconds in MPI's own calls.
  int const turns = static_cast<unsigned>(ranks()) > std::thread::hardware_concurrency() ? 20 : 1000;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Comm on;
    MPI_Comm_dup(MPI_COMM_WORLD, &on);
    ASSERT_EQ(sum_of_ones(on), ranks());
    MPI_Comm_free(&on);
  }
}

TEST_F(CommunicatorsInterposed, MayBeManyAtOnce) {
  bool const share_processors = static_cast<unsigned>(ranks()) > std::thread::hardware_concurrency();
  std::vector<MPI_Comm> all(share_processors ? 40 : 600);
  for (MPI_Comm& each : all) {
    MPI_Comm_dup(MPI_COMM_WORLD, &each);
    make_team_of(each);  // not of all of them
    EXPECT_EQ(sum_of_ones(each), ranks());
  }
  for (MPI_Comm& each : all) MPI_Comm_free(&each);
}

TEST_F(CommunicatorsInterposed, PartsCountTheirOwnRanks) {
  for (int parts = 1; parts <= 3; ++parts) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank() % parts, -rank(), &part);
    int const size = ranks_of(part);
    for (int turn = 0; turn < 12; ++turn) EXPECT_EQ(sum_of_ones(part), size);
    int root = rank_in(part) == size - 1 ? rank() : -1;
    MPI_Bcast(&root, 1, MPI_INT, size - 1, part);
    EXPECT_EQ(root, rank() % parts);  // the highest key is the lowest rank's
    MPI_Comm_free(&part);
  }
  MPI_Comm none;
  MPI_Comm_split(MPI_COMM_WORLD, rank() == 0 ? MPI_UNDEFINED : 0, 0, &none);
  if (rank() != 0) {
    EXPECT_EQ(sum_of_ones(none), ranks() - 1);
    MPI_Comm_free(&none);
  }
}

TEST_F(CommunicatorsInterposed, TakeTheProgramsAttributesWhereTheProgramCopiesThem) {
  static int copies;
  copies = 0;
  int key;
  MPI_Comm_create_keyval(
      [](MPI_Comm, int, void*, void* in, void* out, int* flag) {
        ++copies;
        *static_cast<void**>(out) = in;
        *flag = 1;
        return MPI_SUCCESS;
      },
      MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  MPI_Comm on;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  make_team_of(on);
  EXPECT_EQ(copies, 1);
  MPI_Comm_free(&on);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free_keyval(&key);
}

TEST_F(CommunicatorsInterposed, WithoutATeamAreMpis) {
  if (ranks() == 1) return;
  MPI_Comm half, both;
  bool const is_low = rank() < ranks() / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? ranks() / 2 : 0, 4, &both);
  int const others = is_low ? ranks() - ranks() / 2 : ranks() / 2;
  EXPECT_EQ(sum_of_ones(both), others);
  MPI_Barrier(both);
  MPI_Comm merged;
  MPI_Intercomm_merge(both, is_low ? 0 : 1, &merged);
  EXPECT_EQ(sum_of_ones(merged), ranks());
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

TEST_F(CommunicatorsInterposed, ReturnMpisErrorsForWhatMpiRefuses) {
  own_world on;
  MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // where Open MPI reports wrong arrays
  int const in = 1;
  int out = 0;
  EXPECT_EQ(class_of(MPI_Bcast(&out, 1, MPI_INT, ranks(), on)), MPI_ERR_ROOT);
  EXPECT_EQ(class_of(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, on)), MPI_ERR_OP);
  EXPECT_NE(class_of(MPI_Allreduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, on)), MPI_SUCCESS);
  EXPECT_NE(class_of(MPI_Allreduce(&in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, on)), MPI_SUCCESS);
  EXPECT_EQ(sum_of_ones(on), ranks());  // and all is well afterwards
  std::array<int, 2> both = {1, 1};
  EXPECT_EQ(class_of(MPI_Allreduce(both.data(), both.data(), 2, MPI_INT, MPI_SUM, on)), MPI_ERR_BUFFER);
  EXPECT_EQ(sum_of_ones(on), ranks());
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST_F(CommunicatorsInterposed, HaveOtherProcessesThatFailAsTheLibrarySays) {
  if (ranks() == 1) return;
  MPI_Comm on;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  make_team_of(on);
  said_by_all("");  // none is still in there
  std::vector<int> in(10, 1), out(10);
  int const code = MPI_Allreduce(in.data(), out.data(), rank() == 0 ? 9 : 10, MPI_INT, MPI_SUM, on);
  ASSERT_NE(code, MPI_SUCCESS);
  char words[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, words, &length);
  EXPECT_NE(std::string(words).find("disagree"), std::string::npos) << words;
  std::string const called = rank() == 0 ? "in MPI_Allreduce of 9 MPI_INT" : "in MPI_Allreduce of 10 MPI_INT";
  EXPECT_NE(std::string(words).find(called), std::string::npos) << words;
  MPI_Comm_free(&on);
}

TEST_F(CommunicatorsInterposed, NameWhatTheProgramCalledWhereBytesTravel) {
  if (ranks() == 1) return;
  MPI_Comm on;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  make_team_of(on);
  said_by_all("");
  int const count = rank() == 0 ? 1141 : 1142;
  std::vector<int> in(1142), out(static_cast<std::size_t>(1142 * ranks()));
  int const code = MPI_Allgather(in.data(), count, MPI_INT, out.data(), count, MPI_INT, on);
  ASSERT_NE(code, MPI_SUCCESS);
  char words[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, words, &length);
  std::string const called = "in MPI_Allgather of " + std::to_string(count) + " MPI_INT";
  EXPECT_NE(std::string(words).find(called), std::string::npos) << words;
  MPI_Comm_free(&on);
}

/// Rank 0 is in `what` before any other rank begins the sum that it has in flight, and they come there only once that sum
/// has ended: it has to go on in there.
template <class Do>
void while_others_wait_for_a_sum(MPI_Comm on, Do const& what) {
  int token = 0;
  if (rank() > 0) MPI_Recv(&token, 1, MPI_INT, 0, 9, on, MPI_STATUS_IGNORE);
  sum_under_way sum(on, 0, 100'000);
  for (int to = 1; rank() == 0 && to < ranks(); ++to) MPI_Send(&token, 1, MPI_INT, to, 9, on);
  if (rank() > 0) MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
  what();
  if (rank() == 0) MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
  sum.expect_right();
}

TEST_F(CommunicatorsInterposed, AreMadeAndFreedWhileOthersWaitForWhatIsInFlight) {
  own_world on;
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  while_others_wait_for_a_sum(on, [&] { EXPECT_EQ(sum_of_ones(first), ranks()); });  // makes its team
  while_others_wait_for_a_sum(on, [&] { MPI_Comm_dup(first, &second); });
  while_others_wait_for_a_sum(on, [&] { MPI_Comm_free(&first); });
  MPI_Comm_free(&second);
}

TEST_F(CommunicatorsInterposed, AreUsedByOneRankBeforeAndByAnotherAfterAnotherOne) {
  if (ranks() == 1) return;
  own_world one, other;
  int const in = 1;
  int all = 0;
  if (rank() == 0) {
    sum_under_way sum(one);
    MPI_Allreduce(&in, &all, 1, MPI_INT, MPI_SUM, other);
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    sum.expect_right();
  } else {
    MPI_Allreduce(&in, &all, 1, MPI_INT, MPI_SUM, other);
    sum_under_way sum(one);
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    sum.expect_right();
  }
  EXPECT_EQ(all, ranks());
}

TEST_F(CommunicatorsInterposed, OfThreadsWaitInMpiWhileAnotherThreadBegins) {
  int level;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE || ranks() == 1) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE and two ranks";
  own_world on;
  if (rank() == 0) {
    std::thread receiver([&] {
      int got = 0;
      for (int from = 1; from < ranks(); ++from) MPI_Recv(&got, 1, MPI_INT, from, 2, on, MPI_STATUS_IGNORE);
    });
    sum_under_way sum(on);
    receiver.join();
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    sum.expect_right();
  } else {
    sum_under_way sum(on);
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    int const sent = 1;
    MPI_Send(&sent, 1, MPI_INT, 0, 2, on);
    sum.expect_right();
  }
}

/// Rank 0 has begun to make a communicator, for which the others come after the collectives that make a team.
TEST_F(CommunicatorsInterposed, GetTeamsWhileAnotherThreadMakesOne) {
  int level;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE || ranks() == 1) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE and two ranks";
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Comm from, on, made;
    MPI_Comm_dup(MPI_COMM_WORLD, &from);
    MPI_Comm_dup(MPI_COMM_WORLD, &on);
    MPI_Group everybody;
    MPI_Comm_group(from, &everybody);
    auto const make = [&] { MPI_Comm_create_group(from, everybody, turn, &made); };
    if (rank() == 0) {
      std::thread maker(make);
      make_team_of(on);
      maker.join();
    } else {
      make_team_of(on);
      make();
    }
    make_team_of(on);
    EXPECT_EQ(sum_of_ones(on), ranks());
    for (MPI_Comm* each : {&made, &on, &from}) MPI_Comm_free(each);
    MPI_Group_free(&everybody);
  }
}

/// Last: communicators with teams that MPI_Finalize ends, made in other orders by different ranks.
TEST_F(CommunicatorsInterposed, ThatAreNeverFreedEndWithMpi) {
  MPI_Comm one, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Request request;
  if (rank() % 2 == 0) {
    MPI_Ibarrier(one, &request);
    make_team_of(other);
  } else {
    make_team_of(other);
    MPI_Ibarrier(one, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  make_team_of(one);
}

}  // namespace coset::interpose_test
