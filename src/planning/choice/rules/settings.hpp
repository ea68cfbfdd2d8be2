// SPDX-License-Identifier: Apache-2.0
// Environment variables that begin with COSET_: which exist, and what is wrong with those that are set.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace coset::choice {

enum class adaptation { off, on, flipping };

/// COSET_ADAPT: off, or flip for tests; on without it.
adaptation wanted_adaptation();

/// How long ranks wait for each other.
struct wait_limits {
  std::chrono::nanoseconds until_told{0};  ///< then the team says on standard error where its ranks are; 0: never
  std::chrono::nanoseconds longest{0};     ///< then the team fails with timed_out; 0: for ever
};

/// COSET_STUCK, 60 s without it, and COSET_TIMEOUT.
wait_limits wanted_wait_limits();

/// COSET_IDLE, 5 s without it: how long teams that have ended wait for the next ones; 0: they do not.
std::chrono::nanoseconds wanted_idle_time();

/// What is set that coset reads: another number where something else is set, or the profile that COSET_TUNING names has been written
/// since, but for one pair in 2^64. Cost: looks at the environment once.
struct settings_now {
  settings_now();
  bool operator==(settings_now const&) const = default;

  std::uint64_t digest;
  bool name_files;  ///< some plan is a file, of which only the name is in the settings
};

/// One line for each of these settings ("NAME=value") that has no effect as it stands: unknown names, with the nearest
/// known one, and words that their variable does not accept. Names that do not begin with COSET_ are ignored. A setting
/// that makes a team impossible gives no line: reading it throws.
std::vector<std::string> wrong_settings(std::vector<std::string> const& environment);

/// The same for this process's environment, on standard error, once per process. Throws argument_error if COSET_ISA
/// names no instruction set of this machine.
void name_wrong_settings_once();

}  // namespace coset::choice
