// SPDX-License-Identifier: Apache-2.0
// A child process whose masks, environment and limits are its own.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>

#include "coset/team.hpp"

namespace coset::numa_test {

/// Runs `body` in a child of this process; true if it returned true. Of one thread, if nothing but idle teams has more: ThreadSanitizer
/// starts none in a child otherwise.
inline bool in_child(std::function<bool()> const& body) {
  end_idle_teams();
  pid_t const child = fork();
  if (child == 0) try {
      _exit(body() ? 0 : 1);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "in a child: %s\n", error.what());
      _exit(2);
    }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Restricts every thread of this process, as `taskset -a` does; false if the kernel refuses.
inline bool restrict_to(std::initializer_list<unsigned> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned const each : processors) CPU_SET(each, &set);
  for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task"))
    if (sched_setaffinity(std::stoi(thread.path().filename()), sizeof set, &set) != 0) return false;
  return true;
}

}  // namespace coset::numa_test
