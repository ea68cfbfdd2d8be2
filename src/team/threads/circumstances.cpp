// SPDX-License-Identifier: Apache-2.0
#include "team/threads/circumstances.hpp"

#include <link.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/file.hpp"
#include "numa/process/fork.hpp"

namespace coset::team_room {
namespace {

std::size_t default_stack_bytes() noexcept {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

/// Nothing but this text tells how many. Where memory is short for it they count as none.
std::uint64_t filters_of_this_thread() noexcept try {
  constexpr std::string_view name = "Seccomp_filters:\t";
  std::string const status = text::read_file("/proc/thread-self/status").text;
  std::uint64_t number = 0;
  if (auto const at = status.find(name); at != std::string::npos)
    std::from_chars(status.data() + at + name.size(), status.data() + status.size(), number);
  return number;
} catch (std::bad_alloc const&) {
  return 0;
}

std::uint64_t objects_unloaded() noexcept {
  std::uint64_t number = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t, void* into) {
        *static_cast<std::uint64_t*>(into) = first->dlpi_subs;
        return 1;
      },
      &number);
  return number;
}

}  // namespace

scheduling scheduling::of_thread(pid_t thread) noexcept {
  struct {  // the kernel's sched_attr, of which older headers of the C library know nothing
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } found = {};
  if (syscall(SYS_sched_getattr, thread, &found, sizeof found, 0) != 0) return {};
  return {static_cast<int>(found.policy), static_cast<int>(found.priority), found.nice, found.flags};
}

bool scheduling::is_for_this_thread_alone() const noexcept {
  constexpr std::uint64_t reset_on_fork = 1;
  return (flags & reset_on_fork) != 0;
}

void scheduling::apply() const noexcept {
  auto const now = of_thread(0);
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
  std::fesetenv(&computing_);
  scheduled_.apply();
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
}

confinement confinement::of_this_thread() noexcept {
  auto const mode = static_cast<std::uint64_t>(prctl(PR_GET_SECCOMP));
  std::uint64_t const filters = mode == SECCOMP_MODE_FILTER ? filters_of_this_thread() : 0;
  return {mode | filters << 8, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)};
}

circumstances::circumstances(team_options options)
    : asked(std::move(options)),
      processors(numa::mask::of_thread(0)),
      stack_bytes(0),
      mode(runtime::floating_point_mode::of_this_thread()),
      process(numa::process_number_by_the_system()),
      unloaded(objects_unloaded()) {
  if (asked.ranks == 1) return;  // its only thread is the caller
  scheduled = scheduling::of_thread(0);
  confined = confinement::of_this_thread();
  stack_bytes = default_stack_bytes();
}

bool circumstances::tell_all() const noexcept { return !settings.name_files && !scheduled.is_for_this_thread_alone(); }

bool circumstances::operator==(circumstances const& other) const {
  bool const are_asked = asked.ranks == other.asked.ranks && asked.place == other.asked.place &&
                         asked.wait == other.asked.wait && asked.processors == other.asked.processors &&
                         asked.memory == other.asked.memory;
  bool const have_like_threads = processors == other.processors && scheduled == other.scheduled &&
                                 confined == other.confined && stack_bytes == other.stack_bytes;
  return are_asked && have_like_threads && mode == other.mode && settings == other.settings &&
         process == other.process && unloaded == other.unloaded;
}

}  // namespace coset::team_room
