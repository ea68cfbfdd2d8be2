// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/free_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

namespace coset::cli {
namespace {

/// "max" is no number, and no limit.
std::optional<std::uint64_t> number_in(char const* file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

std::uint64_t left(char const* limit_file, char const* used_file) {
  auto const limit = number_in(limit_file);
  if (!limit) return std::numeric_limits<std::uint64_t>::max();
  return *limit - std::min(*limit, number_in(used_file).value_or(0));
}

}  // namespace

std::uint64_t free_memory() {
  auto const pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_AVPHYS_PAGES), 0L));
  return std::min({pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
                   left("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
                   left("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes")});
}

}  // namespace coset::cli
