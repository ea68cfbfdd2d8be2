// SPDX-License-Identifier: Apache-2.0
// The machine that tests run on, as it was asked for and as it is, and teams on it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "coset/coset.hpp"

namespace coset::vm_test {

/// Cores of each node as the machine was booted, 0 where a node has only memory; empty outside tests/vm/run.
inline std::vector<unsigned> booted() {
  std::vector<unsigned> cores;
  char const* const text = std::getenv("COSET_VM_NODES");
  std::istringstream nodes(text == nullptr ? "" : text);
  for (std::string node; std::getline(nodes, node, '+');) cores.push_back(static_cast<unsigned>(std::stoul(node)));
  return cores;
}

/// What each node's memory was said to be: 'f' for fast, 's' for slow, 0 where nothing was said.
inline std::string tiers_booted() {
  std::string tiers;
  char const* const text = std::getenv("COSET_VM_NODES");
  std::istringstream nodes(text == nullptr ? "" : text);
  for (std::string node; std::getline(nodes, node, '+');)
    tiers += node.back() == 'f' || node.back() == 's' ? node.back() : '\0';
  return tiers;
}

/// Every way to place one rank per core. An emulated machine has more processors than its host: ranks that wait sleep.
struct way {
  std::string name;
  team_options options;
};

inline std::vector<way> ways(topology const& machine) {
  std::vector<unsigned> reversed;
  for (processor const& each : machine.place(machine.cores(), placement::compact))
    reversed.insert(reversed.begin(), each.os_index);
  return {{"compact", {.place = placement::compact, .wait = waiting::block}},
          {"scatter", {.place = placement::scatter, .wait = waiting::block}},
          {"reversed", {.wait = waiting::block, .processors = reversed}}};
}

inline std::vector<processor> places(topology const& machine, way const& how) {
  auto const& options = how.options;
  return options.processors.empty() ? machine.place(machine.cores(), options.place) : machine.place(options.processors);
}

}  // namespace coset::vm_test
