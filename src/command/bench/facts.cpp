// SPDX-License-Identifier: Apache-2.0
#include "command/bench/facts.hpp"

#include <fmt/chrono.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/environment/variables.hpp"
#include "commit.hpp"
#include "coset/detail/version.h"
#include "flags.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::cli {
namespace {

/// As Linux names it; on Arm it has no name but the architecture's.
std::string processor_name(utsname const& system) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    auto const colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return system.machine;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

/// Not where somebody's folders are.
nlohmann::ordered_json variables_set() {
  auto json = nlohmann::ordered_json::object();
  for (auto const& each : environment::variables) {
    auto const value = environment::value_of(each);
    if (!value.empty() && !std::string_view(each.name).ends_with("HOME")) json[each.name] = value;
  }
  return json;
}

}  // namespace

nlohmann::ordered_json run_facts() {
  utsname system = {};
  uname(&system);
  return {{"version", fmt::format("{}.{}.{}", COSET_VERSION_MAJOR, COSET_VERSION_MINOR, COSET_VERSION_PATCH)},
          {"commit", commit},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"host", system.nodename},
          {"processor", processor_name(system)},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"compiler", compiler()},
          {"flags", flags},
          {"instruction_set", kernels::instruction_set()},
          {"variables", variables_set()}};
}

}  // namespace coset::cli
