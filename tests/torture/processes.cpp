// SPDX-License-Identifier: Apache-2.0
// Teams over processes, which a launcher starts for each case.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "coset/mpi.hpp"
#include "torture/driver/driver.hpp"
#include "torture/play.hpp"

namespace coset::torture {
namespace {

constexpr rank_t threads_of_each = 2;

class processes : public stage {
 public:
  processes()
      : threads_({.ranks = threads_of_each, .place = placement::unbound}),
        team_(MPI_COMM_WORLD, threads_, {.deadline = std::chrono::seconds(5)}) {}
  void run(script const& s) override {
    team_.run([&](member& me) { play(s, me); });
  }
  std::optional<plan<int>> plan_of(std::size_t count) override { return plan<int>(team_, verb::allreduce, count); }

 private:
  team threads_;
  mpi::team team_;
};

account& account_in(char const* file, int process) {
  int const opened = open(file, O_RDWR);
  void* const all = mmap(nullptr, most_processes * sizeof(account), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  if (all == MAP_FAILED) {
    std::perror(file);
    std::exit(2);
  }
  close(opened);
  return static_cast<account*>(all)[process];
}

}  // namespace

std::vector<team_kind> kinds_here() { return {team_kind::processes}; }
std::unique_ptr<stage> make_stage(trial&) { return std::make_unique<processes>(); }

int play_launched(int argc, char** argv) {
  if (argc != 6) return 2;
  int level = 0, process = 0, number = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  MPI_Barrier(MPI_COMM_WORLD);  // what MPI itself needs of the host's memory it has had
  auto const number_at = [&](int k) { return std::strtoull(argv[k], nullptr, 10); };
  trial t({number_at(2), team_kind::processes, fault(number_at(3))}, number_at(4), number_at(5),
          account_in(argv[1], process));
  t.ranks = static_cast<rank_t>(number) * threads_of_each;
  t.striker = static_cast<rank_t>(t.salt % t.ranks);
  play(t);
  MPI_Finalize();
  return 0;
}

}  // namespace coset::torture
