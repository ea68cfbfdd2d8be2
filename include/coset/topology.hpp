// SPDX-License-Identifier: Apache-2.0
// A machine as plain data: which processors there are, and what they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coset/error.hpp"

namespace coset {

/// How a team spreads its ranks. One rank per core comes first in all of them, hardware threads after.
enum class placement : std::uint8_t {
  compact,  ///< fill a node, then the next
  scatter,  ///< one rank per node in turn
  unbound   ///< ranks are not pinned
};

/// One hardware thread that this process may use.
struct processor {
  unsigned os_index = 0;   ///< the operating system's number
  unsigned core = 0;       ///< logical numbers from 0, in the machine's order
  unsigned l2 = 0;
  unsigned l3 = 0;
  unsigned node = 0;       ///< index into topology::nodes
  unsigned package = 0;
  unsigned kind = 0;       ///< core kind: 0 is the fastest; equal everywhere on most machines
  unsigned thread = 0;     ///< 0 for the first usable hardware thread of its core, 1 for the second …
};

/// A NUMA node that scratch memory may be taken from.
struct numa_node {
  unsigned os_index = 0;
  std::uint64_t bytes = 0;  ///< for display only: never size anything from it
};

/// What a machine looks like to this process: masks, cgroups and offline processors are already taken out.
struct topology {
  std::string name;                           ///< "this machine", the file's name, or the synthetic description
  bool this_system = false;                   ///< binding means something only here
  std::vector<processor> processors;          ///< in the machine's order: package, node, L3, core, thread
  std::vector<numa_node> nodes;               ///< only those that have usable processors and ordinary memory
  std::vector<std::vector<unsigned>> distances;  ///< [node][node], empty where the machine gives none

  /// The machine this process runs on. Throws topology_error if it cannot be read.
  static topology machine();
  /// From an hwloc synthetic description, "node:2 core:4 pu:2". Throws topology_error quoting the text.
  static topology synthetic(std::string const& description);
  /// From an hwloc XML export. Throws topology_error naming the file.
  static topology xml(std::string const& file);

  unsigned cores() const;                     ///< distinct cores among processors

  /// The processors of `ranks` ranks, cores first. Throws topology_error with both numbers if they do not fit.
  std::vector<processor> place(rank_t ranks, placement) const;
  /// Explicit: one OS index per rank. Throws topology_error naming an index that is unknown or not allowed.
  std::vector<processor> place(std::vector<unsigned> const& os_indices) const;
};

}  // namespace coset
