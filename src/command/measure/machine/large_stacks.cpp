// SPDX-License-Identifier: Apache-2.0
#include "command/measure/machine/large_stacks.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/environment/variables.hpp"
#include "coset/error.hpp"

namespace coset::measure {

void restart_with_large_stacks(char** arguments) {
  if (!environment::value("OMP_STACKSIZE").empty()) return;
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = std::min<rlim_t>(stack.rlim_max, rlim_t{1} << 30);
  setrlimit(RLIMIT_STACK, &stack);
  setenv("OMP_STACKSIZE", "1G", 1);
  setenv("KMP_BLOCKTIME", "20", 0);
  execv("/proc/self/exe", arguments);
  throw error("cannot restart with larger stacks");
}

}  // namespace coset::measure
