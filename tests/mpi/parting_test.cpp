// SPDX-License-Identifier: Apache-2.0
// Processes that do not come to the same places: one destroys a team that others still use. None of them waits for ever.
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

bool is_last() { return process() == processes() - 1; }

void expect_a_new_team_works() { hybrid(1).expect_works(); }

/// What those have heard that wanted to run; the others have heard nothing.
void expect_told_of_the_end(outcome const& heard, bool wanted_to_run) {
  bool const told =
      heard.type == type_name<mpi::error>() && heard.message.find("has destroyed its team") != std::string::npos;
  EXPECT_EQ(said_anywhere(told == wanted_to_run ? "" : "heard '" + heard.type + "' '" + heard.message + "'"), "");
}

class Parting : public ::testing::TestWithParam<std::chrono::seconds> {
 protected:
  void SetUp() override {
    if (processes() < 2) GTEST_SKIP();
  }

  mpi::options wanted() const {
    auto options = usual_options();
    options.deadline = GetParam();
    return options;
  }
};

TEST_P(Parting, AnExceptionBetweenRunsIsToldToThoseThatBeginTheNext) {
  auto const thrown = outcome_of([&] {
    hybrid on(1, wanted());
    on.expect_works();
    if (is_last()) throw std::runtime_error("between two runs");
    on.all.run([](member& me) { barrier(me); });
  });
  if (is_last()) {
    EXPECT_EQ(thrown.message, "between two runs");
  }
  expect_told_of_the_end(is_last() ? outcome{} : thrown, !is_last());
  expect_a_new_team_works();
}

TEST_P(Parting, IsToldWhileAThirdProcessIsElsewhere) {
  if (processes() < 3) GTEST_SKIP();
  constexpr int go_on = 1;
  auto const thrown = outcome_of([&] {
    hybrid on(1, wanted());
    on.expect_works();
    if (is_last()) return;
    // Process 1 comes when process 0 has heard.
    if (process() == 1) MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_on, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    auto const heard = outcome_of([&] { on.all.run([](member& me) { barrier(me); }); });
    if (process() == 0) MPI_Send(nullptr, 0, MPI_BYTE, 1, go_on, MPI_COMM_WORLD);
    auto const again = outcome_of([&] { on.all.run([](member& me) { barrier(me); }); });
    if (again.type != type_name<mpi::error>()) throw std::runtime_error("the team runs again");
    if (!heard.type.empty()) throw mpi::error(heard.message);
  });
  expect_told_of_the_end(thrown, !is_last());
  expect_a_new_team_works();
}

TEST_P(Parting, OfManyTeamsIsToldInEach) {
  auto const thrown = outcome_of([&] {
    hybrid first(1, wanted()), second(2, wanted()), third(3, wanted());
    for (hybrid* const on : {&first, &second, &third}) on->expect_works();
    if (is_last()) throw std::runtime_error("between two runs");  // waits in the third team for the others
    first.all.run([](member& me) { barrier(me); });
  });
  expect_told_of_the_end(is_last() ? outcome{} : thrown, !is_last());
  expect_a_new_team_works();
}

INSTANTIATE_TEST_SUITE_P(Deadlines, Parting, ::testing::Values(std::chrono::seconds(0), std::chrono::seconds(60)),
                         [](auto const& with) { return with.param.count() == 0 ? "none" : "far"; });

TEST(Destruction, InAnotherOrderOnEachProcessEnds) {
  {
    auto first = std::make_unique<hybrid>(1), second = std::make_unique<hybrid>(2);
    first->expect_works();
    second->expect_works();
    if (process() % 2 == 1) std::swap(first, second);
    first.reset();
    second.reset();
  }
  expect_a_new_team_works();
}

TEST(Destruction, MeetsTheConstructionOfAnotherTeam) {
  {
    auto first = std::make_unique<hybrid>(1);
    first->expect_works();
    if (is_last()) first.reset();
    expect_a_new_team_works();
  }
  expect_a_new_team_works();
}

TEST(Construction, OfNoProcessesIsRefused) {
  team threads({.ranks = 1, .place = placement::unbound});
  EXPECT_THROW(mpi::team(MPI_COMM_NULL, threads), argument_error);
}

TEST(Construction, OverTwoGroupsIsRefused) {
  if (processes() < 2) GTEST_SKIP();
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, process() % 2, process(), &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - process() % 2, 0, &both);
  {
    team threads({.ranks = 1, .place = placement::unbound});
    auto const thrown = outcome_of([&] { mpi::team(both, threads); });
    bool const right = thrown.type == type_name<argument_error>() && thrown.message.find("intercommunicator") == 3;
    EXPECT_EQ(said_anywhere(right ? "" : "threw '" + thrown.type + "' '" + thrown.message + "'"), "");
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  expect_a_new_team_works();
}

}  // namespace
}  // namespace coset::mpi_test
