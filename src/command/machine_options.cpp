// SPDX-License-Identifier: Apache-2.0
// Turns options into machines and placements.
#include "command/machine_options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <set>

#include "base/environment/variables.hpp"
#include "base/text/suggestion.hpp"
#include "command/numbers.hpp"

namespace coset::cli {

namespace {

using reader = std::function<topology()>;

/// Of a child that reads a machine. It says nothing, as its parent meets the same exception.
[[noreturn]] void read_and_end(reader const& read) {
  constexpr rlimit seconds{20, 20}, nothing{0, 0};
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_CORE, &nothing);
  dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  try {
    (void)read();
  } catch (std::exception const&) {
  }
  _exit(0);
}

/// hwloc believes descriptions: it may crash on a wrong one, or not come to an end. So a child reads it first.
topology read_foreign(std::string const& name, reader const& read) {
  signal(SIGCHLD, SIG_DFL);  // where the caller ignores it, a child's status is lost
  pid_t const child = fork();
  if (child == 0) read_and_end(read);
  if (child < 0) throw error(fmt::format("no process to read {} in: {}", name, strerror(errno)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0)
    throw topology_error(fmt::format("hwloc crashes or does not end as it reads {}: {}", name,
                                     WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "a sanitizer has stopped it"));
  return read();
}

/// For the first word of a description that is no level of machines.
std::string suggested_level(std::string const& description) {
  std::vector<std::string> const known{"machine", "package", "pack", "group", "numa", "node", "die",
                                       "l5",      "l4",      "l3",   "l2",    "l1",   "core", "pu"};
  for (auto const& level : CLI::detail::split(description, ' ')) {
    auto const word = CLI::detail::to_lower(level.substr(0, level.find(':')));
    if (std::ranges::find(known, word) == known.end()) return text::did_you_mean(word, known);
  }
  return "";
}

std::vector<std::string> settings_of_other_machine() {
  std::vector<std::string> set;
  for (environment::name const name :
       std::initializer_list<environment::name>{"HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_SYNTHETIC", "HWLOC_XMLFILE"})
    if (!environment::value(name).empty()) set.emplace_back(name.text());
  return set;
}

}  // namespace

topology machine_named(std::string const& text) try {
  if (text == "machine") return this_machine();
  bool const is_file = text.ends_with(".xml") || std::filesystem::exists(text);
  return read_foreign(text, [&] { return is_file ? topology::xml(text) : topology::synthetic(text); });
} catch (topology_error const& refused) {
  throw topology_error(refused.what() + suggested_level(text));
}

topology this_machine(reader const& read) {
  auto const set = settings_of_other_machine();
  return set.empty() ? read() : read_foreign(fmt::format("what {} names", fmt::join(set, " or ")), read);
}

topology machine_to_measure() {
  auto found = this_machine();
  if (!found.this_system)
    throw argument_error(fmt::format("{} describes another machine, and only this one can be measured: unset it",
                                     variables_of_other_machine()));
  return found;
}

std::string variables_of_other_machine() {
  auto const set = settings_of_other_machine();
  return set.empty() ? "hwloc" : fmt::format("{}", fmt::join(set, " or "));
}

void require_room_for(rank_t ranks, topology const& machine) {
  constexpr std::size_t most_per_processor = 16;
  std::size_t const most = machine.processors.size() * most_per_processor;
  if (ranks > most)
    throw argument_error(fmt::format("{} ranks on {} processors: at most {}", ranks, machine.processors.size(), most));
}

CLI::Option* add_place(CLI::App& command, std::string& place) {
  return command
      .add_option("--place", place,
                  "compact: ranks fill one node after the other; scatter: ranks take the nodes in turn")
      ->check(one_of({"compact", "scatter"}))
      ->capture_default_str();
}

placement placement_named(std::string const& place) {
  return place == "scatter" ? placement::scatter : placement::compact;
}

std::vector<rank_t> ranks_by_node(std::vector<processor> const& places) {
  std::vector<rank_t> sizes;
  std::set<unsigned> seen;
  for (std::size_t r = 0; r < places.size(); ++r) {
    bool const next = r == 0 || places[r].node != places[r - 1].node;
    if (next && !seen.insert(places[r].node).second) return {};
    if (next) sizes.push_back(0);
    ++sizes.back();
  }
  return sizes;
}

}  // namespace coset::cli
