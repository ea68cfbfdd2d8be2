// SPDX-License-Identifier: Apache-2.0
// Who makes communicators at MPI_THREAD_MULTIPLE. An MPI numbers those of one process one after another: a thread that has
// begun to make one can keep all others waiting until its processes are there, too. Teams are founded by collectives that
// make none as the program sees it, so they may neither wait for that, nor be what another thread waits for.
#pragma once

#include <mpi.h>

namespace coset::interpose {

/// While the program makes one. Waits for a team that is being founded here, which waits for nobody else.
class making {
 public:
  making() noexcept;
  ~making();
  making(making const&) = delete;
  making& operator=(making const&) = delete;

 private:
  bool const counts_;
};

/// While a team is founded: collective, and begun when all of the communicator's processes are there.
class founding_turn {
 public:
  explicit founding_turn(MPI_Comm);
  ~founding_turn();
  founding_turn(founding_turn const&) = delete;
  founding_turn& operator=(founding_turn const&) = delete;

  /// Alike on all processes: none of them makes a communicator meanwhile, or founds another team.
  bool is_ours() const noexcept { return is_ours_; }

 private:
  bool is_taken_ = false, is_ours_ = false;
};

}  // namespace coset::interpose
