// SPDX-License-Identifier: Apache-2.0
// What becomes of a forked child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

/// A child's exit() does not look for leaks: what threads refer to that it has not, on their stacks and to destroy last, would be
/// some.
inline pid_t const parent_of_all = getpid();
extern "C" [[gnu::used]] inline int __lsan_is_turned_off() {  // NOLINT: LeakSanitizer's name
  return getpid() != parent_of_all ? 1 : 0;
}

namespace coset::test {

/// How a child process ends that does this: "status N" or "signal N".
template <class Action>
std::string ending_of(Action&& action) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    action();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? "status " + std::to_string(WEXITSTATUS(status))
                           : "signal " + std::to_string(WTERMSIG(status));
}

}  // namespace coset::test
