// SPDX-License-Identifier: Apache-2.0
// One process of a team kills itself; each other one writes what its run() throws to a file, for survivors.py to read:
// Hydra does not always forward what is printed once a process is gone.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

int survive(int victim, std::filesystem::path const& reports, std::chrono::nanoseconds deadline) {
  hybrid on(1, {.deadline = deadline});
  reducer<double> sum(20'000);
  std::vector<double> total(20'000);
  std::string end = "nothing";
  try {
    on.all.run([&](member& me) {
      std::vector<double> items(20'000, 1);
      for (int k = 0; k < 1000; ++k) {
        if (k == 10 && process() == victim && me.rank() == on.all.first()) raise(SIGKILL);
        std::ranges::fill(sum.local(me), 1);
        sum.combine_into(total, me);
        allreduce(me, items, maximum{});
      }
    });
  } catch (mpi::error const& thrown) {
    end = std::string("mpi::error ") + thrown.what();
  } catch (std::exception const& thrown) {
    end = std::string("another error ") + thrown.what();
  }
  auto const report = reports / std::to_string(process()), unfinished = reports / (report.filename().string() + "~");
  std::ofstream(unfinished) << end << "\n";
  std::filesystem::rename(unfinished, report);
  // MPI cannot be finalised, nor the communicator freed, where a process is gone.
  _exit(0);
}

}  // namespace
}  // namespace coset::mpi_test

/// survivors VICTIM DIRECTORY
int main(int argc, char** argv) {
  int given = 0;
  alarm(30);  // who waits for ever is no survivor
  // So Hydra tells of a process that has died; MPICH 4.0.2 leaves it at what the signal does by default.
  std::signal(SIGUSR1, SIG_IGN);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (argc != 3) return 2;
  return coset::mpi_test::survive(std::atoi(argv[1]), argv[2], std::chrono::seconds(1));
}
