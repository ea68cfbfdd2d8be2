// SPDX-License-Identifier: Apache-2.0
// How near nodes are to each other, whatever it is measured with.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "command/measure/machine/latency.hpp"
#include "coset/topology.hpp"

namespace coset::cli {

/// The first hardware thread of each core of a node, [node] of the machine.
std::vector<std::vector<unsigned>> cores_by_node(topology const&);

/// What the matrices are measured with.
struct instruments {
  /// GB/s of these processors that read the memory of a node, as the system numbers it; nothing if no page of it was to be had.
  std::function<std::optional<double>(std::vector<unsigned> const& readers, unsigned node)> read;
  std::function<measure::latency_matrix(std::vector<unsigned> const& processors)> latency;
};

/// {"nodes": …, "latency_ns": [node][node], "read": [node that reads][node that has the pages]}; null where nothing was measured.
nlohmann::ordered_json measure_between(topology const&, instruments const&);

}  // namespace coset::cli
