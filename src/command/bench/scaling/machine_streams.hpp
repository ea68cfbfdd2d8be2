// SPDX-License-Identifier: Apache-2.0
// What the machine moves by itself: streams of each node and of all, and how near the nodes are to each other.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "coset/topology.hpp"

namespace coset::cli {

struct stream_options {
  std::size_t rounds = 0;
  bool is_glance = false;  ///< to try the command: short arrays, and a round is one pass
};

/// {"0": 512, "1": 512}: pages by node, as the system numbers them.
nlohmann::ordered_json pages_json(std::map<unsigned, std::size_t> const& pages);

/// {"streams": …, "between_nodes": …}: GB/s of all cores of a node, or of all nodes, by where their pages come from; and from node
/// to node the latency of cache lines and the bandwidth of reading the other's memory. Throws interrupted.
nlohmann::ordered_json measure_machine(topology const&, stream_options const&);

/// What the streams of a point in memory are held against, and what divides nodes: known of a file.
nlohmann::ordered_json machine_json(topology const&);

}  // namespace coset::cli
