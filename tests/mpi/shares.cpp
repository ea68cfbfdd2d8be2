// SPDX-License-Identifier: Apache-2.0
// shares: the teams of processes that nobody has bound, made as the README makes them, take each core once.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "coset/mpi.hpp"
#include "mpi/processes.hpp"
#include "team/team_state.hpp"

int main() {
  using namespace coset;
  int given = 0, process = 0, processes = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  bool right = true;
  {
    auto const machine = topology::machine();
    bool const bound = machine.processors.size() != topology::whole_machine().processors.size();
    auto const cores = static_cast<int>(machine.cores());
    team threads;
    mpi::team all(MPI_COMM_WORLD, threads);
    std::vector<int> takers(machine.processors.size(), 0);
    for (processor const& p : threads.state().shape.places) {
      for (std::size_t k = 0; k < takers.size(); ++k) takers[k] += machine.processors[k].os_index == p.os_index;
    }
    MPI_Allreduce(MPI_IN_PLACE, takers.data(), static_cast<int>(takers.size()), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int const most = *std::max_element(takers.begin(), takers.end());
    int const expected_ranks = bound ? cores * processes : std::max(cores, processes);
    int const expected_most = bound ? processes : (processes + cores - 1) / cores;
    right = static_cast<int>(all.size()) == expected_ranks && most == expected_most;
    if (!right)
      std::fprintf(stderr, "process %d: %u ranks of all, up to %d on a processor; %d processes on %d cores%s\n",
                   process, all.size(), most, processes, cores, bound ? ", bound" : "");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
