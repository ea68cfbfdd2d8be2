// SPDX-License-Identifier: Apache-2.0
// A program of somebody else, of one process: every rank gets the sum over all ranks, or the exit status says that not.
#include <atomic>
#include <coset/coset.hpp>
#include <coset/mpi.hpp>

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  std::atomic<bool> right = true;
  {
    coset::team threads({.ranks = 2, .place = coset::placement::unbound});
    coset::mpi::team all(MPI_COMM_WORLD, threads);
    all.run([&](coset::member& me) {
      if (coset::allreduce(me, me.rank() + 1) != 3) right = false;
    });
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
