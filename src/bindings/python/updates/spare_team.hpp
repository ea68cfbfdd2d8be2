// SPDX-License-Identifier: Apache-2.0
// The team of calls that bring none.
#pragma once

#include <cstddef>
#include <memory>

#include "coset/team.hpp"

namespace coset::python {

/// Taken by one call at a time, with the GIL, and given back with the GIL, which is the lock of all of this: a fork() of Python's
/// holds it, too, so a child never finds the team half taken. The team's threads are not pinned, as numpy's users have others,
/// and stay until the process ends; a child has a team of its own.
class spare_team {
 public:
  /// For so many updates, by so many threads; 0: one per core that this process may use. A thread is alone where there is too
  /// little to share, and where another call has the team: several threads of Python are parallel already.
  spare_team(std::size_t updates, rank_t threads);
  ~spare_team();
  spare_team(spare_team const&) = delete;
  spare_team& operator=(spare_team const&) = delete;

  /// Null: the calling thread is alone.
  team* get() const noexcept { return team_.get(); }

 private:
  std::unique_ptr<team> team_;
};

}  // namespace coset::python
