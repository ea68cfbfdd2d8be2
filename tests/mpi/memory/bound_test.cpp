// SPDX-License-Identifier: Apache-2.0
// Processes that are bound to processors of their own do not take turns, those that are bound to the same ones do. Who takes turns
// yields at each look, and gives slices of time away where other programs want the processors.
#include <dirent.h>
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "mpi/processes.hpp"
#include "team/team_state.hpp"

namespace coset::mpi_test {
namespace {

std::vector<int> processors_of(cpu_set_t const& set) {
  std::vector<int> all;
  for (int at = 0; at < CPU_SETSIZE; ++at) {
    if (CPU_ISSET(at, &set)) all.push_back(at);
  }
  return all;
}

/// All threads, as a launcher would have: MPI has some of its own.
void bind_to(cpu_set_t const& set) {
  std::unique_ptr<DIR, int (*)(DIR*)> const threads(opendir("/proc/self/task"), closedir);
  while (dirent const* const thread = readdir(threads.get()))
    if (thread->d_name[0] != '.') sched_setaffinity(std::atoi(thread->d_name), sizeof set, &set);
}

class Bound : public ::testing::Test {
 protected:
  /// The launcher may have bound them already.
  Bound() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof all);
    bind_to(all);
    sched_getaffinity(0, sizeof all, &all);
    usable_ = processors_of(all);
  }
  ~Bound() override { bind_to(before_); }

  std::vector<int> const& usable() const { return usable_; }

  /// Of a communicator of its own: where processes are is found out once for each.
  static bool takes_turns(int processor) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    bind_to(only);
    MPI_Comm alike;
    MPI_Comm_dup(MPI_COMM_WORLD, &alike);
    bool takes;
    {
      team threads({.ranks = 1, .place = placement::unbound});
      mpi::team all(alike, threads);
      runtime::shared_memory const& shared = detail::any_team(all).state().shared;
      takes = shared.kind.crowded || shared.part.crowded;
    }
    MPI_Comm_free(&alike);
    return takes;
  }

 private:
  cpu_set_t before_;
  std::vector<int> usable_;
};

TEST_F(Bound, ToProcessorsOfTheirOwnDoNotTakeTurns) {
  if (usable().size() < static_cast<std::size_t>(processes())) GTEST_SKIP() << "needs a processor for each";
  EXPECT_FALSE(takes_turns(usable()[static_cast<std::size_t>(process())]));
}

TEST_F(Bound, ToOneProcessorTakeTurns) { EXPECT_EQ(takes_turns(usable()[0]), processes() > 1); }

}  // namespace
}  // namespace coset::mpi_test
