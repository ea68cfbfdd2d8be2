// SPDX-License-Identifier: Apache-2.0
// Turns options into machines and placements.
#include "cli/machine_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <initializer_list>
#include <set>

#include "environment/variables.hpp"

namespace coset::cli {

topology machine_named(std::string const& text) {
  if (text == "machine") return topology::machine();
  bool const is_file = text.ends_with(".xml") || std::filesystem::is_regular_file(text);
  return is_file ? topology::xml(text) : topology::synthetic(text);
}

topology machine_to_measure() {
  auto found = topology::machine();
  if (!found.this_system)
    throw argument_error(fmt::format("{} describes another machine, and only this one can be measured: unset it",
                                     variables_of_other_machine()));
  return found;
}

std::string variables_of_other_machine() {
  std::vector<std::string> set;
  for (environment::name const name :
       std::initializer_list<environment::name>{"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH"})
    if (!environment::value(name).empty()) set.emplace_back(name.text());
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
      ->check(CLI::IsMember({"compact", "scatter"}))
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
