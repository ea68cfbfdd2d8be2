// SPDX-License-Identifier: Apache-2.0
// Machines to test on: descriptions of real ones where the folder is there, and synthetic ones of many shapes.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "coset/topology.hpp"

namespace coset::numa_test {

inline bool has_real_machine(std::string const& file) { return std::filesystem::exists(COSET_MACHINES "/" + file); }

inline topology real_machine(std::string const& file) { return topology::xml(COSET_MACHINES "/" + file); }

inline std::vector<topology> real_machines() {
  std::vector<topology> machines;
  if (!std::filesystem::is_directory(COSET_MACHINES)) return machines;
  for (auto const& entry : std::filesystem::directory_iterator(COSET_MACHINES))
    if (entry.path().extension() == ".xml") machines.push_back(topology::xml(entry.path()));
  return machines;
}

struct shape {
  char const* description;
  unsigned processors, cores, l2s, l3s, nodes, packages;
};

// In hwloc's words; the numbers are what a reader of the description counts.
inline std::vector<shape> const shapes = {
    {"pu:1", 1, 1, 1, 1, 1, 1},
    {"core:1 pu:1", 1, 1, 1, 1, 1, 1},
    {"core:1 pu:2", 2, 1, 1, 1, 1, 1},
    {"core:2 pu:1", 2, 2, 2, 1, 1, 1},
    {"core:4 pu:1", 4, 4, 4, 1, 1, 1},
    {"core:7 pu:1", 7, 7, 7, 1, 1, 1},
    {"core:8 pu:4", 32, 8, 8, 1, 1, 1},
    {"pack:1 l3:1 core:4 pu:2", 8, 4, 4, 1, 1, 1},
    {"pack:1 l3:2 core:4 pu:2", 16, 8, 8, 2, 1, 1},
    {"pack:1 l3:4 l2:2 core:2 pu:2", 32, 16, 8, 4, 1, 1},
    {"l2:2 core:2 pu:1", 4, 4, 2, 1, 1, 1},
    {"node:2 core:1 pu:1", 2, 2, 2, 2, 2, 1},
    {"node:2 core:4 pu:2", 16, 8, 8, 2, 2, 1},
    {"node:3 core:5 pu:1", 15, 15, 15, 3, 3, 1},
    {"node:4 core:2 pu:1", 8, 8, 8, 4, 4, 1},
    {"node:8 core:1 pu:1", 8, 8, 8, 8, 8, 1},
    {"node:24 core:8 pu:1", 192, 192, 192, 24, 24, 1},
    {"pack:2 core:64 pu:2", 256, 128, 128, 2, 1, 2},
    {"pack:2 node:1 core:64 pu:2", 256, 128, 128, 2, 2, 2},
    {"pack:2 node:1 l3:8 core:8 pu:2", 256, 128, 128, 16, 2, 2},
    {"pack:2 node:4 l3:2 core:8 pu:2", 256, 128, 128, 16, 8, 2},
    {"pack:2 l3:1 node:2 core:4 pu:1", 16, 16, 16, 4, 4, 2},
    {"pack:4 l3:2 node:1 core:4 pu:1", 32, 32, 32, 8, 8, 4},
    {"pack:4 node:1 l3:1 l2:4 core:2 pu:1", 32, 32, 16, 4, 4, 4},
    {"node:2 pack:2 core:4 pu:1", 16, 16, 16, 4, 2, 4},
    {"group:2 node:2 pack:2 core:2 pu:2", 32, 16, 16, 8, 4, 8},
    {"pack:8 node:1 l3:2 core:3 pu:1", 48, 48, 48, 16, 8, 8},
    {"pack:3 node:1 core:7 pu:3", 63, 21, 21, 3, 3, 3},
    {"pack:16 node:1 core:2 pu:1", 32, 32, 32, 16, 16, 16},
    {"pack:2 [numa] [numa] core:2 pu:1", 4, 4, 4, 4, 4, 2},  // two nodes for the same cores: each serves half
    {"pack:1 [numa] [numa] core:1 pu:2", 2, 1, 1, 1, 1, 1},  // a core has one node
    {"node:64 pack:2 core:2 pu:1", 256, 256, 256, 128, 64, 128},
};

/// Nodes of so many cores each, every core with `threads` hardware threads: what synthetic descriptions cannot say.
inline topology unequal(std::vector<unsigned> const& cores_of_node, unsigned threads) {
  topology machine;
  machine.name = "unequal";
  unsigned core = 0;
  for (unsigned node = 0; node < cores_of_node.size(); ++node) {
    machine.nodes.push_back({.os_index = node, .bytes = 0});
    for (unsigned const end = core + cores_of_node[node]; core < end; ++core)
      for (unsigned thread = 0; thread < threads; ++thread)
        machine.processors.push_back({.os_index = core * threads + thread,
                                      .core = core,
                                      .l2 = core,
                                      .l3 = node,
                                      .node = node,
                                      .package = node,
                                      .kind = 0,
                                      .thread = thread});
  }
  return machine;
}

inline std::vector<topology> all_machines() {
  auto machines = real_machines();
  machines.push_back(topology::xml(COSET_ODD_MACHINE));
  for (auto const& each : shapes) machines.push_back(topology::synthetic(each.description));
  machines.push_back(unequal({5, 2, 4}, 1));
  machines.push_back(unequal({1, 8}, 2));
  return machines;
}

}  // namespace coset::numa_test
