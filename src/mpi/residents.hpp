// SPDX-License-Identifier: Apache-2.0
// The teams over processes of this process: a thread that waits in one of them attends to the others.
#pragma once

#include <chrono>

#include "mpi/transport/calls.hpp"

namespace coset::inline COSET_ABI::mpi {

/// A team as the list sees it. It enters when it is complete, which takes no memory: all processes have agreed on it by then.
class resident {
 public:
  virtual ~resident() = default;
  /// From any thread: does nothing while the team is in use.
  virtual void attend() noexcept = 0;
  /// MPI_Finalize has begun, and MPI still works: the last chance to free MPI's resources.
  virtual void end_with_mpi() noexcept = 0;

 protected:
  void enter();
  void leave() noexcept;

 private:
  friend class list_of_residents;
  resident* earlier_ = nullptr;
};

/// How long a process waits for others until it listens for notices of its other teams, too. Such a notice ends a team, so
/// this allows for slow processes.
constexpr patience until_others_are_looked_after = std::chrono::milliseconds(250);

/// Two processes may wait for each other in different teams. Here each hears what the other waits for.
void attend_all_residents() noexcept;

}  // namespace coset::mpi
