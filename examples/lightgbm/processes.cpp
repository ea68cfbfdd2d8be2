// SPDX-License-Identifier: Apache-2.0
// The network between all threads of all processes: mpirun … lightgbm_processes [MACHINES-PER-PROCESS [TREES]]
#include <coset/c_member.hpp>
#include <coset/coset.hpp>
#include <coset/mpi.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "trees.hpp"

namespace {

/// Every thread of every process is a machine. False, and said, where this process's have failed.
template <class Work>
bool succeeds(coset::mpi::team& all, Work const& work) {
  try {
    all.run([&](coset::member& me) {
      coset::c_member const in_c(me);
      work(over_coset::machine(in_c));
    });
    return true;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "machines from %u on: %s\n", all.first(), e.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int given = 0, process = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  bool right = false;
  {
    auto const machines = static_cast<coset::rank_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    auto const trees = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 20);
    // Processes of one host would all take the first cores: the launcher binds them, or nobody does.
    coset::team threads({.ranks = machines, .place = coset::placement::unbound});
    coset::mpi::team all(MPI_COMM_WORLD, threads);
    if (process == 0) std::printf("%s\n", all.describe().c_str());
    right = succeeds(all, [&](over_coset::machine const& here) { grow_trees(here, trees); });
    right = succeeds(all, call_wrongly) && right;
    if (process == 0) std::puts(right ? "every machine got what a serial program would" : "some machines have FAILED");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
