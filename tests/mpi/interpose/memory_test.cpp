// SPDX-License-Identifier: Apache-2.0
// Programs that know nothing of coset, where /dev/shm is full or fills later: results stay right.
#include <optional>
#include <string>
#include <tuple>

#include "mpi/memory/shortage.hpp"
#include "world.hpp"

namespace coset::interpose_test {
namespace {

using namespace mpi_test;

class FullMemoryInterposed : public ::testing::TestWithParam<std::tuple<mechanism, moment>> {
 protected:
  void SetUp() override {
    if (!shm_is_ours()) GTEST_SKIP() << "run it by tests/mpi/memory/small_shm";
  }
  void fill() {
    if (rank() == 0) full_.emplace();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::optional<full_shm> full_;
};

/// Two at once, as they use storage of their own.
void expect_right_at_length(MPI_Comm on) {
  constexpr int length = 500'000;
  sum_under_way one(on, 0, length), other(on, 1, length);
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  MPI_Wait(&other.request, MPI_STATUS_IGNORE);
  one.expect_right();
  other.expect_right();
}

TEST_P(FullMemoryInterposed, LeavesResultsRight) {
  auto const [how, when] = GetParam();
  if (how == mechanism::file) refuse_memfds();
  auto const& world = *new fresh_world;  // never freed, as the next one would get its team
  if (when == moment::before_founding) fill();
  make_team_of(world.get());
  bool const shared = ranks() > 1 && (how == mechanism::memfd || when != moment::before_founding);
  EXPECT_EQ(windows(how).empty(), !shared);
  if (when == moment::before_the_long_call) fill();
  expect_right_at_length(world.get());
  if (when == moment::between_long_calls) {
    fill();
    expect_right_at_length(world.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::string describe(::testing::TestParamInfo<FullMemoryInterposed::ParamType> const& of) {
  return std::string(name_of(std::get<0>(of.param))) + "_" + name_of(std::get<1>(of.param));
}

/// Memfds come first: they cannot be permitted again.
INSTANTIATE_TEST_SUITE_P(All, FullMemoryInterposed,
                         ::testing::Combine(::testing::Values(mechanism::memfd, mechanism::file),
                                            ::testing::Values(moment::before_founding, moment::before_the_long_call,
                                                              moment::between_long_calls)),
                         describe);

}  // namespace
}  // namespace coset::interpose_test
