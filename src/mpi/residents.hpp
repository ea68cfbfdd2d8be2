// SPDX-License-Identifier: Apache-2.0
// The teams over processes that this process has: who waits for others in one of them looks after the rest.
#pragma once

namespace coset::mpi {

/// A team, to those who know nothing else of it. It enters when it is complete.
class resident {
 public:
  virtual ~resident() = default;
  /// From any thread: does nothing while the team is in use.
  virtual void attend() noexcept = 0;
  /// MPI_Finalize has begun, and MPI still works: the last chance to give back what is MPI's.
  virtual void end_with_mpi() noexcept = 0;

 protected:
  void enter();
  void leave() noexcept;
};

/// Two processes may wait in different teams for each other. Each hears here of what the other one waits for.
void attend_all_residents() noexcept;

}  // namespace coset::mpi
