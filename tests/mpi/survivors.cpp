// SPDX-License-Identifier: Apache-2.0
// One process of a team kills itself; each other one says what its run() throws, for survivors.py to count.
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

int survive(int victim, std::chrono::nanoseconds deadline) {
  hybrid on(1, {.deadline = deadline});
  std::string end = "nothing";
  try {
    on.all.run([&](member& me) {
      std::vector<double> items(20'000, 1);
      for (int k = 0; k < 1000; ++k) {
        if (k == 10 && process() == victim && me.rank() == on.all.first()) raise(SIGKILL);
        allreduce(me, items, maximum{});
      }
    });
  } catch (mpi::error const& thrown) {
    end = std::string("mpi::error ") + thrown.what();
  } catch (std::exception const& thrown) {
    end = std::string("another error ") + thrown.what();
  }
  std::cout << "survivor " + std::to_string(process()) + ": " + end + "\n" << std::flush;
  // MPI cannot be finalised, nor the communicator freed, where a process is gone.
  _exit(0);
}

}  // namespace
}  // namespace coset::mpi_test

/// survivors VICTIM
int main(int argc, char** argv) {
  int given = 0;
  alarm(30);  // who waits for ever is no survivor
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  return coset::mpi_test::survive(argc > 1 ? std::atoi(argv[1]) : 0, std::chrono::seconds(1));
}
