// SPDX-License-Identifier: Apache-2.0
// What a team takes from the thread that makes it, beside what it asks for.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cfenv>
#include <cstddef>
#include <cstdint>

#include "coset/team.hpp"
#include "numa/mask.hpp"
#include "planning/choice/rules/settings.hpp"
#include "runtime/modes/floating_point_mode.hpp"

namespace coset::team_room {

/// What the system lets a thread have of the processor: its policy, priority and nice value.
struct scheduling {
  int policy = 0, priority = 0, nice = 0;
  std::uint64_t flags = 0;

  /// 0: of the calling one.
  static scheduling of_thread(pid_t) noexcept;
  /// Whether new threads begin without: nothing can be said of theirs then.
  bool is_for_this_thread_alone() const noexcept;
  /// To the calling thread. Where the system refuses that, the thread stays as it is.
  void apply() const noexcept;
  bool operator==(scheduling const&) const = default;
};

/// What a new thread takes from the one that starts it and may change for itself.
class inherited {
 public:
  /// Of the calling thread, `scheduled` as it is. Cost: a system call.
  explicit inherited(scheduling scheduled) noexcept;
  void apply() const noexcept;  ///< but for the signals
  sigset_t const& blocked() const noexcept { return blocked_; }

 private:
  sigset_t blocked_;
  std::fenv_t computing_;
  scheduling scheduled_;
};

/// What the kernel refuses to a thread and to those that it starts, as far as it tells.
struct confinement {
  std::uint64_t filters = 0;  ///< of seccomp, and its mode
  int no_privileges = 0;      ///< no_new_privs, which Landlock's rules want

  static confinement of_this_thread() noexcept;
  bool operator==(confinement const&) const = default;
};

/// All that decides what a team of this machine becomes. A team may stand for another one that has been asked for in equal
/// circumstances. Objects that the process has unloaded meanwhile took tables with them that plans name: others may lie there now. Not
/// seen are a profile that `coset tune` writes meanwhile where COSET_TUNING names none; processors that come or
/// go beside this thread's mask; and of what the kernel knows of the thread namespaces, capabilities, memory policy, name, timer
/// slack, priority of input and output, Landlock's rules if no_new_privs was set before, and what clone() or unshare() made its own:
/// descriptors, and the directory in which it is. Nor what bodies have done to their threads. Cost: 1 to 2 us, and 20 where seccomp
/// filters.
struct circumstances {
  explicit circumstances(team_options asked);
  /// False if teams like this are to be made anew each time: rules name files, whose content may change, or the thread's scheduling is
  /// for it alone.
  bool tell_all() const noexcept;
  bool operator==(circumstances const&) const;

  team_options asked;
  numa::mask processors;
  scheduling scheduled;
  confinement confined;
  std::size_t stack_bytes;
  runtime::floating_point_mode mode;
  choice::settings_now settings;
  std::uint32_t process;
  std::uint64_t unloaded;  ///< objects, ever
};

}  // namespace coset::team_room
