// SPDX-License-Identifier: Apache-2.0
// One flag, set by a signal handler.
#include "command/interruption.hpp"

#include <csignal>
#include <initializer_list>

namespace coset::cli {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

extern "C" void remember(int number) { signal_seen = number; }

}  // namespace

void remember_interrupts() {
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int const number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

void stop_if_interrupted() {
  if (signal_seen != 0) throw interrupted();
}

int interrupted_status() { return signal_seen == 0 ? 0 : 128 + signal_seen; }

}  // namespace coset::cli
