// SPDX-License-Identifier: Apache-2.0
// Teams over processes where /dev/shm is full, or fills later: whatever kind of team and whenever, results stay right, and no
// process gets a signal.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "mpi/memory/shortage.hpp"
#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

enum class kind { one_team, five_teams, part, part_of_part };

char const* name_of(kind what) {
  constexpr char const* names[]{"one_team", "five_teams", "part", "part_of_part"};
  return names[static_cast<int>(what)];
}

team two_threads() { return team({.ranks = 2, .place = placement::unbound}); }

/// Far more than fits in lines, through every segment of staging; blocking, and in split phase on other channels.
void sum_at_length(member& me) {
  std::size_t const length = 200'000;
  std::vector<double> blocking(length, 1), in_flight(length, 2);
  request under_way = start_allreduce(me, in_flight);
  allreduce(me, blocking);
  under_way.wait();
  double const ranks = me.size();
  if (blocking != std::vector<double>(length, ranks) || in_flight != std::vector<double>(length, 2 * ranks))
    throw std::logic_error("a sum is wrong");
}

class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!shm_is_ours()) GTEST_SKIP() << "run it by tests/mpi/memory/small_shm";
  }
};

class FullMemory : public Memory, public ::testing::WithParamInterface<std::tuple<mechanism, kind, moment>> {
 protected:
  void fill() {
    if (process() == 0) full_.emplace();
  }
  /// One rank fills /dev/shm while all others wait.
  void fill(member& me) {
    barrier(me);
    if (me.rank() == 0) full_.emplace();
    barrier(me);
  }

  void call(mpi::team& all, mechanism how, kind what, moment when) {
    all.run([&](member& me) {
      std::size_t const before = windows(how).size();
      std::vector<member> parts;
      if (what >= kind::part) parts.push_back(me.split(0, 0));
      if (what == kind::part_of_part) parts.push_back(parts.back().split(0, 0));
      bool const shared = processes() > 1 && (how == mechanism::memfd || when == moment::between_long_calls);
      if (windows(how).size() - before != (shared ? parts.size() : 0))
        throw std::logic_error("parts have other windows than expected");
      member& on = parts.empty() ? me : parts.back();
      if (when == moment::between_long_calls) {
        sum_at_length(on);
        fill(me);
      }
      sum_at_length(on);
    });
  }

  std::optional<full_shm> full_;
};

TEST_P(FullMemory, LeavesResultsRight) {
  auto const [how, what, when] = GetParam();
  if (how == mechanism::file) refuse_memfds();
  fresh_world const world;
  team threads = two_threads();
  if (when == moment::before_founding) fill();
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<std::unique_ptr<mpi::team>> teams;
  std::size_t const wanted = what == kind::five_teams ? 5 : 1;
  while (teams.size() < wanted) teams.push_back(std::make_unique<mpi::team>(world.get(), threads));
  bool const shared = how == mechanism::memfd || when != moment::before_founding;
  std::string fault;
  if (processes() > 1 && windows(how).size() != (shared ? wanted : 0)) fault = "other windows than expected";
  if (when == moment::before_the_long_call) fill();
  MPI_Barrier(MPI_COMM_WORLD);
  for (auto const& all : teams) {
    auto const thrown = outcome_of([&] { call(*all, how, what, when); });
    if (!thrown.type.empty()) fault += thrown.message;
    if (when == moment::between_long_calls) full_.reset();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_EQ(said_anywhere(fault), "") << teams.front()->describe();
}

std::string describe(::testing::TestParamInfo<FullMemory::ParamType> const& of) {
  auto const& [how, what, when] = of.param;
  return std::string(name_of(how)) + "_" + name_of(what) + "_" + name_of(when);
}

/// Memfds come first: they cannot be permitted again.
INSTANTIATE_TEST_SUITE_P(All, FullMemory,
                         ::testing::Combine(::testing::Values(mechanism::memfd, mechanism::file),
                                            ::testing::Values(kind::one_team, kind::five_teams, kind::part,
                                                              kind::part_of_part),
                                            ::testing::Values(moment::before_founding, moment::before_the_long_call,
                                                              moment::between_long_calls)),
                         describe);

/// Beyond the limit of a process's files the kernel would end it by SIGXFSZ.
TEST_F(Memory, OfLimitedFilesIsLess) {
  for (rlim_t const most : {rlim_t{4} << 20, rlim_t{4096}, rlim_t{0}}) {
    fresh_world const world;
    team threads = two_threads();
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit const limited{most, before.rlim_max};
    std::optional<mpi::team> all;
    setrlimit(RLIMIT_FSIZE, &limited);
    auto thrown = outcome_of([&] { all.emplace(world.get(), threads); });
    setrlimit(RLIMIT_FSIZE, &before);
    if (thrown.type.empty()) thrown = outcome_of([&] { all->run([](member& me) { sum_at_length(me); }); });
    EXPECT_EQ(said_anywhere(thrown.message), "");
    bool const shared = windows(mechanism::file).size() + windows(mechanism::memfd).size() != 0;
    EXPECT_TRUE(processes() == 1 || shared == (most > 4096)) << most;
  }
}

/// Containers may have /dev/shm in common and number processes for themselves. COSET_LOG says why memory comes by a file.
TEST_F(Memory, ComesByAFileWhereProcessesAreNumberedTwice) {
  if (getpid() != 1) GTEST_SKIP() << "run it as the first process of a namespace";
  fresh_world const world;
  team threads = two_threads();
  mpi::team all(world.get(), threads);
  auto const thrown = outcome_of([&] { all.run([](member& me) { sum_at_length(me); }); });
  EXPECT_EQ(said_anywhere(thrown.message), "");
  EXPECT_EQ(windows(mechanism::file).size(), 1);
  EXPECT_NE(all.describe().find("by a file in /dev/shm"), std::string::npos) << all.describe();
}

}  // namespace
}  // namespace coset::mpi_test
