// SPDX-License-Identifier: Apache-2.0
// A stand-in until processes meet: the team of one process is its thread team.
#include "coset/mpi.hpp"

#include <fmt/format.h>

namespace coset::mpi {

struct team::state {
  coset::team& threads;
};

team::team(MPI_Comm of, coset::team& threads, options) : state_(new state{threads}) {
  int processes = 0;
  MPI_Comm_size(of, &processes);
  if (processes != 1) throw error(fmt::format("a team of {} processes: only of one so far", processes));
}

team::~team() = default;

rank_t team::size() const noexcept { return state_->threads.size(); }
rank_t team::first() const noexcept { return 0; }
rank_t team::threads() const noexcept { return state_->threads.size(); }
int team::processes() const noexcept { return 1; }
int team::hosts() const noexcept { return 1; }
std::string team::describe() const { return fmt::format("{} ranks on 1 host, 1 process", size()); }

void team::run_erased(void (*body)(void*, member&), void* context) {
  state_->threads.run([&](member& me) { body(context, me); });
}

}  // namespace coset::mpi
