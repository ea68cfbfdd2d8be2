// SPDX-License-Identifier: Apache-2.0
// A child process whose masks, environment and limits are its own.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <initializer_list>

namespace coset::numa_test {

/// Runs `body` in a child of this process; true if it returned true.
inline bool in_child(std::function<bool()> const& body) {
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

/// Restricts the calling thread, as taskset does; false if the kernel refuses.
inline bool restrict_to(std::initializer_list<unsigned> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned const each : processors) CPU_SET(each, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace coset::numa_test
