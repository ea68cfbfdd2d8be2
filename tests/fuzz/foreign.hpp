// SPDX-License-Identifier: Apache-2.0
// Inputs at which a library of others dies: found out in a child of the process, and passed over.
#pragma once

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

namespace coset::test {

/// Whether `run` is worth running here, which a child finds out: not if it says itself that it was refused, nor if it ends
/// in the library whose file is called `name`: by a signal, by its taking long or much memory. Such a library calls nothing
/// back, so one frame of it on the stack says that the fault is its own.
template <class Run>
bool is_ours(char const* name, Run run) {
  static constexpr int foreign = 77;
  static constexpr itimerval time{{0, 0}, {0, 300'000}};
  static constexpr long kilobytes = 64 * 1024;
  static std::string_view library;
  library = name;

  auto const handle = [](int signal) {
    std::array<void*, 100> frames;
    int const depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < depth; ++i) {
      Dl_info object;
      if (dladdr(frames[static_cast<std::size_t>(i)], &object) != 0 &&
          std::string_view(object.dli_fname).find(library) != std::string_view::npos)
        _exit(foreign);
    }
    std::signal(signal, SIG_DFL);
    raise(signal);
  };
  auto const peak = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };

  pid_t const child = fork();
  if (child == 0) {
    close(STDERR_FILENO);  // what is not foreign is going to happen in the parent again
    for (int const signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}) std::signal(signal, handle);
    setitimer(ITIMER_REAL, &time, nullptr);
    long const before = peak();
    bool const through = run();
    _exit(!through || peak() - before > kilobytes ? foreign : 0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) != child) continue;
  return !WIFEXITED(status) || WEXITSTATUS(status) != foreign;
}

}  // namespace coset::test
