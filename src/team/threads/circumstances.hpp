// SPDX-License-Identifier: Apache-2.0
// What a team takes from the thread that makes it, beside what it asks for.
#pragma once

#include <signal.h>

#include <cfenv>
#include <cstdint>

#include "coset/team.hpp"
#include "numa/mask.hpp"
#include "runtime/modes/floating_point_mode.hpp"

namespace coset::team_room {

/// What the system lets a thread have of the processor: its policy, priority and nice value.
struct scheduling {
  int policy = 0, priority = 0, nice = 0;

  static scheduling of_this_thread() noexcept;
  /// Where the system refuses that, the thread stays as it is.
  void apply() const noexcept;
  bool operator==(scheduling const&) const = default;
};

/// What a new thread takes from the one that starts it and may change for itself. Cost: some system calls.
class inherited {
 public:
  /// Of the calling thread, `scheduled` as it is.
  explicit inherited(scheduling scheduled) noexcept;
  void apply() const noexcept;

 private:
  sigset_t blocked_;
  std::fenv_t computing_;
  scheduling scheduled_;
};

/// All that decides what a team of this machine becomes. A team may stand for another one that has been asked for in equal
/// circumstances. Not seen are a profile that `coset tune` writes meanwhile where COSET_TUNING names none, processors that come or
/// go beside this thread's mask, namespaces, and a second filter of system calls. Cost: 1 µs.
struct circumstances {
  explicit circumstances(team_options asked);
  bool operator==(circumstances const&) const;

  team_options asked;
  numa::mask processors;
  scheduling scheduled;
  int filtered;  ///< seccomp's mode: threads from before a filter have none
  runtime::floating_point_mode mode;
  std::uint64_t settings;
  std::uint32_t process;
};

}  // namespace coset::team_room
