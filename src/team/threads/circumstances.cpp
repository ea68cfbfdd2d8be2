// SPDX-License-Identifier: Apache-2.0
#include "team/threads/circumstances.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "choice/rules/settings.hpp"
#include "numa/process/fork.hpp"

namespace coset::team_room {
scheduling scheduling::of_this_thread() noexcept {
  struct {  // the kernel's sched_attr, of which older headers of the C library know nothing
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } found = {};
  if (syscall(SYS_sched_getattr, 0, &found, sizeof found, 0) != 0) return {};
  return {static_cast<int>(found.policy), static_cast<int>(found.priority), found.nice};
}

void scheduling::apply() const noexcept {
  auto const now = of_this_thread();
  if (now == *this) return;
  sched_param const with{.sched_priority = priority};
  if (now.policy != policy || now.priority != priority) sched_setscheduler(0, policy, &with);
  if (now.nice != nice) setpriority(PRIO_PROCESS, 0, nice);
}

inherited::inherited(scheduling scheduled) noexcept : scheduled_(scheduled) {
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked_);
  std::fegetenv(&computing_);
}

void inherited::apply() const noexcept {
  pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
  std::fesetenv(&computing_);
  scheduled_.apply();
}

circumstances::circumstances(team_options options)
    : asked(std::move(options)),
      processors(numa::mask::of_thread(0)),
      scheduled(scheduling::of_this_thread()),
      filtered(prctl(PR_GET_SECCOMP)),
      mode(runtime::floating_point_mode::of_this_thread()),
      settings(choice::settings_now()),
      process(numa::process_number_by_the_system()) {}

bool circumstances::operator==(circumstances const& other) const {
  bool const are_asked = asked.ranks == other.asked.ranks && asked.place == other.asked.place &&
                         asked.wait == other.asked.wait && asked.processors == other.asked.processors;
  return are_asked && processors == other.processors && scheduled == other.scheduled && filtered == other.filtered &&
         mode == other.mode && settings == other.settings && process == other.process;
}

}  // namespace coset::team_room
