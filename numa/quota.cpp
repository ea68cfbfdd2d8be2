// SPDX-License-Identifier: Apache-2.0
// What control groups grant, cgroups(7): cpu.max and cpu.cfs_quota_us, memory.max and memory.limit_in_bytes.
#include "numa/quota.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>

#include "numa/process/fork.hpp"

namespace coset::numa {
namespace {

// Paths are strings: libstdc++ 12's std::filesystem::path crashes where there is no memory to append to one.

bool lists(std::string const& comma_separated, std::string const& word) {
  return ("," + comma_separated + ",").find("," + word + ",") != std::string::npos;
}

// Version 2: "QUOTA PERIOD", where no quota is spelled "max" and so is no number.
std::optional<double> quota_v2(std::string const& group) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

// Version 1: two files; no quota is -1.
std::optional<double> quota_v1(std::string const& group) {
  std::ifstream quota_file(group + "/cpu.cfs_quota_us");
  std::ifstream period_file(group + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

struct hierarchy {
  std::string mount;
  bool second_version = false;
};

std::optional<hierarchy> parse_mount(std::string const& line, std::string const& controller) {
  std::istringstream words(line);
  std::string device, mount, type, options;
  words >> device >> mount >> type >> options;
  if (type == "cgroup2") return hierarchy{mount, true};
  if (type == "cgroup" && lists(options, controller)) return hierarchy{mount, false};
  return std::nullopt;
}

// The process's group in that hierarchy, from the lines "number:controllers:path" of /proc/self/cgroup.
std::string own_group(std::string const& root, bool second_version, std::string const& controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    if (second_version ? controllers.empty() : lists(controllers, controller)) return line.substr(second + 1);
  }
  return "/";
}

/// "max" is no number, and no limit.
std::optional<std::uint64_t> number_in(std::string const& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// What the group's limit leaves; none without a limit.
std::optional<std::uint64_t> memory_left(std::string const& group, bool second_version) {
  auto const limit = number_in(group + (second_version ? "/memory.max" : "/memory.limit_in_bytes"));
  auto const used = number_in(group + (second_version ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!limit) return std::nullopt;
  return *limit - std::min(*limit, used.value_or(0));
}

/// The least that `granted(folder, second_version)` finds for this process's group and the groups around it.
template <class Granted>
auto least_granted(std::string const& root, std::string const& controller, Granted granted) {
  decltype(granted(root, true)) least;
  std::ifstream mounts(root + "/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    auto const found = parse_mount(line, controller);
    if (!found) continue;
    // Every group around the process's group limits it, too. Inside a container the path may be the host's, and only
    // its last step, the mount itself, exists here: missing groups set no limit.
    for (std::string group = own_group(root, found->second_version, controller);; group.resize(group.rfind('/'))) {
      auto const here = granted(root + found->mount + group, found->second_version);
      if (here) least = std::min(*here, least.value_or(*here));
      if (group.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace

std::optional<double> processor_quota(std::string const& root) {
  return least_granted(root, "cpu", [](std::string const& group, bool second_version) {
    return second_version ? quota_v2(group) : quota_v1(group);
  });
}

std::optional<double> recent_processor_quota() {
  struct known {
    std::uint32_t process;
    std::chrono::steady_clock::time_point read;
    std::optional<double> quota;
  };
  static std::optional<known> latest;
  fork_safe_mutex& reading = [&]() -> fork_safe_mutex& {
    fork_waits const until_made;  // a child would wait for ever for a thread that it has not
    static fork_safe_mutex& made = *new fork_safe_mutex;
    return made;
  }();
  auto const now = std::chrono::steady_clock::now();
  std::lock_guard const lock(reading);
  if (!latest || latest->process != process_number() || now - latest->read > std::chrono::seconds(1))
    latest = known{process_number(), now, processor_quota()};
  return latest->quota;
}

std::uint64_t free_memory(std::string const& root) {
  auto const pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_AVPHYS_PAGES), 0L));
  auto const of_system = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(of_system, least_granted(root, "memory", memory_left).value_or(of_system));
}

}  // namespace coset::numa
