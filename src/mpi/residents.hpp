// SPDX-License-Identifier: Apache-2.0
// The teams over processes of this process: a thread that waits in one of them attends to the others.
#pragma once

namespace coset::mpi {

/// A team as the list sees it. It enters when it is complete.
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
};

/// Two processes may wait for each other in different teams. Here each hears what the other waits for.
void attend_all_residents() noexcept;

}  // namespace coset::mpi
