// SPDX-License-Identifier: Apache-2.0
// What the system does not give: threads, processors, membarrier, memory. Each is said with the way out, in C too.
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <fstream>

#include "coset/coset.h"
#include "cross/emulated.hpp"
#include "support/forbidden.hpp"
#include "support/teams.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

using test::forbid;
using test::variable;

/// Prints what `make` throws and ends the process: 0 for a topology_error after which a team of one rank works.
template <class Make>
[[noreturn]] void tell(Make make) {
  try {
    make();
  } catch (topology_error const& e) {
    variable const unbound("COSET_BIND", "no");
    team alone({.ranks = 1});
    expect_works(alone);
    std::fprintf(stderr, "%s\n", e.what());
    std::exit(::testing::Test::HasFailure() ? 2 : 0);
  }
  std::exit(1);
}

void forbid_threads() {
  forbid(SYS_clone3, EAGAIN);
  forbid(SYS_clone, EAGAIN);
}

class LimitsDeathTest : public ::testing::Test {
 protected:
  LimitsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LimitsDeathTest, OfThreadsAreNamedWithTheRankAndWhatWouldDo) {
  if (!test::kernel_takes_filters()) GTEST_SKIP() << "no filter of system calls";
  auto const make = [] {
    forbid_threads();
    tell([] { team const made({.ranks = 3, .place = placement::unbound}); });
  };
  EXPECT_EXIT(make(), ::testing::ExitedWithCode(0),
              "rank 1 of a team of 3: the system cannot start more threads .*ulimit -u.*at most 1 rank");
}

/// Address space for some stacks, and not for all: the ranks that have started end, and the rank that has not is named.
TEST_F(LimitsDeathTest, OfThreadsThatSomeRanksFitInEndThoseAgain) {
  if (test::emulated()) GTEST_SKIP() << "no limit of address space";
  auto const make = [] {
    rlimit stack{};
    getrlimit(RLIMIT_STACK, &stack);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    std::size_t const most = pages * 4096 + 20 * (std::size_t{8} << 20);
    stack.rlim_cur = std::size_t{8} << 20;
    setrlimit(RLIMIT_STACK, &stack);
    rlimit const space{most, most};
    setrlimit(RLIMIT_AS, &space);
    tell([] { team const made({.ranks = 200, .place = placement::unbound}); });
  };
  EXPECT_EXIT(make(), ::testing::ExitedWithCode(0), "rank [1-9][0-9]* of a team of 200: the system cannot start more");
}

/// What idle teams have of the address space is somebody's who needs it.
TEST_F(LimitsDeathTest, OfThreadsEndIdleTeams) {
  if (test::emulated()) GTEST_SKIP() << "no limit of address space";
  auto const make = [] {
    variable const for_long("COSET_IDLE", "1000");
    { team const before({.ranks = 6, .place = placement::unbound}); }
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit const space{(pages << 12) + (std::size_t{6} << 20), RLIM_INFINITY};  // less than a stack
    setrlimit(RLIMIT_AS, &space);
    team next({.ranks = 3, .place = placement::unbound});
    expect_works(next);
    std::exit(::testing::Test::HasFailure() ? 2 : 0);
  };
  EXPECT_EXIT(make(), ::testing::ExitedWithCode(0), "");
}

TEST_F(LimitsDeathTest, OfThreadsAreATopologyErrorInC) {
  if (!test::kernel_takes_filters()) GTEST_SKIP() << "no filter of system calls";
  auto const make = [] {
    coset_team_options options = COSET_TEAM_OPTIONS;
    options.ranks = 3;
    options.placement = COSET_UNBOUND;
    forbid_threads();
    coset_team* made = nullptr;
    coset_status const status = coset_team_create(&options, &made);
    std::fprintf(stderr, "%s: %s\n", coset_status_name(status), coset_error_message());
    std::exit(made == nullptr ? 0 : 1);
  };
  EXPECT_EXIT(make(), ::testing::ExitedWithCode(0),
              "COSET_TOPOLOGY_ERROR: rank 1 of a team of 3: the system cannot start");
}

TEST_F(LimitsDeathTest, OfProcessorsAreNamedWithTheRankAndWhatWouldDo) {
  if (!test::kernel_takes_filters()) GTEST_SKIP() << "no filter of system calls";
  auto const run = [] {
    forbid(SYS_sched_setaffinity, EPERM);
    tell([] {
      team made({.ranks = topology::machine().cores() > 1 ? 2u : 1u});
      made.run([](member& me) { barrier(me); });
    });
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              "rank [01] of a team of [12]: cannot pin a thread to processor [0-9]+: Operation not permitted; "
              "COSET_BIND=no");
}

TEST_F(LimitsDeathTest, WithoutMembarrierTeamsWorkAndTheLogSaysSo) {
  if (!test::kernel_takes_filters()) GTEST_SKIP() << "no filter of system calls";
  auto const run = [] {
    forbid(SYS_membarrier, EPERM);
    variable const log("COSET_LOG", "plan");
    for (int k = 0; k < 2; ++k) {
      team made({.ranks = 3, .place = placement::unbound, .wait = waiting::block});
      for (int n = 0; n < 50; ++n) expect_works(made);
    }
    std::exit(::testing::Test::HasFailure() ? 2 : 0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "coset: the system refuses membarrier");
}

TEST(Limits, OfMemoryRefuseAReservationAndLeaveTheTeamAsItWas) {
  team ranks(options_for(2));
  for (std::size_t const bytes : {std::size_t{1} << 50, SIZE_MAX / 2, SIZE_MAX}) {
    auto const said = outcome_of([&] { ranks.reserve(bytes); });
    expect_everybody_threw<argument_error>({said}, {std::to_string(bytes), "2 ranks"});
    expect_works(ranks);
  }
  ranks.reserve(1 << 20);
  expect_works(ranks);
}

}  // namespace
}  // namespace coset::team_test
