// SPDX-License-Identifier: Apache-2.0
// Random sequences of combinations of reducers over processes, against what each rank computes by itself.
#include <random>

#include "mpi/processes.hpp"
#include "reducer/copies/walk.hpp"

namespace coset::mpi_test {
namespace {

using team_test::ranks_by_process;
using team_test::reducer_walk;

/// Processes in the order of their ranks, which need not be MPI's.
ranks_by_process processes_of(mpi::team const& all) {
  ranks_by_process found{std::vector<rank_t>(static_cast<std::size_t>(processes())),
                         static_cast<std::size_t>(all.process_number())};
  rank_t const first = all.first();
  MPI_Allgather(&first, 1, MPI_UINT32_T, found.first.data(), 1, MPI_UINT32_T, MPI_COMM_WORLD);
  std::ranges::sort(found.first);
  found.first.push_back(all.size());
  return found;
}

/// By windows, and by messages alone.
std::vector<mpi::options> ways_to_meet() {
  mpi::options messages = usual_options();
  messages.staging_bytes = 0;
  return {usual_options(), messages};
}

TEST(ReducersAtRandom, LeaveWhatALoopWould) {
  std::mt19937_64 seeds(test::seed());
  for (mpi::options const& options : ways_to_meet())
    for (int k = 0; k < test::by_effort(1, 1, 20); ++k) {
      std::uint64_t const seed = seeds();
      SCOPED_TRACE("seed " + std::to_string(seed) + " of COSET_TEST_SEED=" + std::to_string(test::seed()));
      hybrid on(seed, options);
      reducer_walk walk(seed, processes_of(on.all));
      on.expect_no_faults([&](member& me) -> std::string {
        walk.take(me, test::by_effort(10, 20, 100));
        return "";
      });
    }
}

/// Of all ranks, and of all but the first: then the first process may have none.
TEST(ReducersAtRandom, OfAPartOfTheProcessesToo) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  hybrid on(2);
  ranks_by_process const whole = processes_of(on.all);
  for (rank_t const without : {0u, 1u}) {
    if (without != 0 && provided < MPI_THREAD_MULTIPLE) continue;
    ranks_by_process part{{0}, 0};
    for (std::size_t p = 0; p < whole.processes(); ++p) {
      rank_t const ranks = whole.first[p + 1] - whole.first[p] - (p == 0 ? without : 0);
      if (p == whole.own) part.own = part.first.size() - 1;
      if (ranks > 0) part.first.push_back(part.first.back() + ranks);
    }
    std::optional<reducer_walk> walk;
    if (whole.own != 0 || on.all.threads() > without) walk.emplace(test::seed() + without, part);
    on.expect_no_faults([&](member& me) -> std::string {
      member mine = me.split(me.rank() < without ? 1 : 0, 0);
      if (me.rank() >= without) walk->take(mine, test::by_effort(6, 10, 100));
      return "";
    });
  }
}

}  // namespace
}  // namespace coset::mpi_test
