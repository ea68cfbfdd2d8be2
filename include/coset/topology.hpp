// SPDX-License-Identifier: Apache-2.0
// A machine as plain data: its processors and what they share.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "coset/detail/visibility.h"
#include "coset/error.hpp"

namespace coset::inline COSET_ABI {

/// How a team spreads its ranks. Every placement uses one hardware thread per core before it uses second ones. Ranks
/// beyond the hardware threads share them; compact ranks share with their neighbours.
enum class placement : std::uint8_t {
  compact,  ///< fill a node, then the next
  scatter,  ///< one rank per node in turn
  unbound   ///< ranks are not pinned
};

/// What memory is wanted for, in the words of OpenMP's memory spaces. Makes a difference where a machine has memory of several
/// tiers. Where the wanted memory is full, or there is none of its kind, the next best of that node is taken.
enum class memory_kind : std::uint8_t {
  automatic,       ///< what COSET_MEMORY says; without it low_latency for staging, and high_bandwidth for arrays
  standard,        ///< ordinary memory of the processor's node
  low_latency,     ///< the memory that answers the node's processors first; never a slow one
  high_bandwidth,  ///< the memory that feeds them fastest; never a slow one
  large_capacity   ///< the largest, even if it is slow
};

/// What a memory is beside the ordinary memory of the same processors.
enum class memory_tier : std::uint8_t {
  ordinary,
  fast,   ///< more bandwidth: HBM, MCDRAM
  slow,   ///< less bandwidth, or longer latency: NVDIMM, CXL; and memory without processors of which nothing is known
  device  ///< of a GPU: only used where its node is named
};

/// One hardware thread that this process may use.
struct processor {
  unsigned os_index = 0;  ///< the operating system's number
  unsigned core = 0;      ///< core, l2, l3: numbers from 0 in the machine's order, over usable processors only
  unsigned l2 = 0;        ///< cluster that shares an L2; the core if the machine has or reports no L2
  unsigned l3 = 0;        ///< the same for the L3, else the package; an L3 that spans nodes counts once per node
  unsigned node = 0;      ///< index into topology::nodes
  unsigned package = 0;
  unsigned kind = 0;    ///< core kind: 0 is the fastest; equal everywhere on most machines
  unsigned thread = 0;  ///< 0 for the first usable hardware thread of its core, 1 for the second …
};

/// A NUMA node from which scratch memory may be taken.
struct numa_node {
  unsigned os_index = 0;
  std::uint64_t bytes = 0;  ///< for display only: never size anything from it
};

/// How processors of one node reach a memory, as the firmware tells. 0: unknown.
struct memory_access {
  std::uint64_t bandwidth = 0;  ///< MiB/s
  std::uint64_t latency = 0;    ///< ns
  unsigned distance = 0;        ///< as in topology::distances
  bool local = false;           ///< the memory is these processors', or no others are known to be nearer to it
};

/// A memory of the machine, which may have no processors.
struct node_memory {
  numa_node node = {};
  memory_tier tier = memory_tier::ordinary;
  std::string type = {};                   ///< as hwloc calls it: "HBM", "NVM", "CXL-DRAM"; often empty
  std::vector<memory_access> access = {};  ///< [index into topology::nodes]
};

/// A machine as this process may use it: affinity masks, control groups and offline processors are already applied.
struct COSET_API topology {
  std::string name;                   ///< "this machine", the file's name, or the synthetic description
  bool this_system = false;           ///< binding works only on this system
  std::vector<processor> processors;  ///< in the machine's order, node by node: L3, core, thread
  /// The nodes of usable processors: a processor's own node, or the nearest node with ordinary memory. High-bandwidth,
  /// non-volatile and device memory and nodes without processors appear only if there is no other node.
  std::vector<numa_node> nodes;
  std::vector<std::vector<unsigned>> distances;  ///< [node][node]; empty if the machine reports none
  /// All that this process may use, those of `nodes` and those without processors, in its order. May be empty in machines
  /// that a program describes itself: they have `nodes` alone.
  std::vector<node_memory> memories;
  bool has_l3 = false;  ///< whether the machine reports L3 caches of usable processors; else packages replace them
  std::uint64_t cache_bytes = 0;  ///< of all L3 caches (L2 if there is no L3) of usable processors; 0: unknown
  std::uint64_t l2_bytes = 0;     ///< of the smallest L2 of usable processors; 0: unknown
  unsigned line_bytes = 0;        ///< of the longest line of their data caches; 0: unknown
  std::string vendor;   ///< of the first usable processor, as hwloc's CPUVendor: "GenuineIntel"; empty: unknown
  unsigned family = 0;  ///< of the same, as that vendor numbers them: 26 is AMD's Zen 5; 0: unknown

  /// The machine on which this process runs, restricted to the calling thread's mask: read it before pinning. If OpenMP
  /// has confined that thread to one of its places (OMP_PROC_BIND, OMP_PLACES), restricted to all of its places. Takes
  /// some ms the first time that a process has this mask, 9 if it is the first time at all, and microseconds from then on. Throws
  /// topology_error if it cannot be read.
  static topology machine();
  /// The same without the mask: all processors that the control group permits. For threads that have masks of their
  /// own.
  static topology whole_machine();
  /// From an hwloc synthetic description, "node:2 core:4 pu:2". Throws topology_error quoting the text.
  static topology synthetic(std::string const& description);
  /// From an hwloc XML export. Throws topology_error naming the file.
  static topology xml(std::string const& file);

  unsigned cores() const;  ///< distinct cores among processors

  /// Where processors of this node, an index into `nodes`, should have memory of this kind: the best first, and what else
  /// will do if that is full. The node itself is among them. `automatic` is taken for high_bandwidth. Pure: looks at
  /// `memories` alone. Throws topology_error if there is no such node.
  std::vector<numa_node> memories_for(memory_kind, unsigned node) const;

  /// The processors of `ranks` ranks: one per core first, the fastest kind of core first. Compact ranks follow the
  /// machine's order, so those of a node are consecutive; scattered ranks take the nodes in turn, skipping nodes that
  /// have run out. If ranks outnumber processors, unbound ranks share them round robin; otherwise topology_error names
  /// both numbers.
  std::vector<processor> place(rank_t ranks, placement) const;
  /// Explicit: one OS index per rank. Throws topology_error naming an index that is unknown, not allowed or repeated.
  std::vector<processor> place(std::vector<unsigned> const& os_indices) const;
};

}  // namespace coset
