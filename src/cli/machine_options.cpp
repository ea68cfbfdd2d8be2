// SPDX-License-Identifier: Apache-2.0
// From options to machines and placements.
#include "cli/machine_options.hpp"

#include <filesystem>
#include <set>

namespace coset::cli {

topology machine_named(std::string const& text) {
  if (text == "machine") return topology::machine();
  bool const is_file = text.ends_with(".xml") || std::filesystem::is_regular_file(text);
  return is_file ? topology::xml(text) : topology::synthetic(text);
}

CLI::Option* add_place(CLI::App& command, std::string& place) {
  return command.add_option("--place", place, "Ranks node after node, compact, or over the nodes in turn, scatter")
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
