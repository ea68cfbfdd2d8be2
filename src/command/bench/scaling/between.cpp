// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/between.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/measure/harness/statistics.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

/// Of the first cores of each node.
struct sampled_cores {
  static constexpr std::size_t of_node = 4;
  std::vector<unsigned> processors;
  std::vector<std::size_t> node;  ///< [processor]
};

sampled_cores sample(topology const& machine) {
  sampled_cores some;
  auto const all = cores_by_node(machine);
  for (std::size_t node = 0; node < all.size(); ++node)
    for (std::size_t k = 0; k < std::min(all[node].size(), sampled_cores::of_node); ++k) {
      some.processors.push_back(all[node][k]);
      some.node.push_back(node);
    }
  return some;
}

/// The median pair's one-way latency.
ordered_json latencies(topology const& machine, instruments const& by) {
  auto const some = sample(machine);
  auto const found = by.latency(some.processors);
  std::vector<std::vector<std::vector<double>>> pairs(machine.nodes.size(),
                                                      std::vector<std::vector<double>>(machine.nodes.size()));
  for (std::size_t a = 0; a < found.size(); ++a)
    for (std::size_t b = 0; b < found.size(); ++b)
      if (a != b) pairs[some.node[a]][some.node[b]].push_back(found[a][b]);
  auto all = ordered_json::array();
  for (auto const& row : pairs) {
    all.push_back(ordered_json::array());
    for (auto const& of : row) all.back().push_back(of.empty() ? ordered_json() : ordered_json(measure::median(of)));
  }
  return all;
}

/// Nothing to read of others where there is one node.
ordered_json read_rates(topology const& machine, instruments const& by) {
  auto const cores = cores_by_node(machine);
  auto rates = ordered_json::array();
  for (auto const& readers : cores) {
    rates.push_back(ordered_json::array());
    for (auto const& node : machine.nodes) {
      auto const rate = cores.size() < 2 || readers.empty() ? std::optional<double>() : by.read(readers, node.os_index);
      rates.back().push_back(rate ? ordered_json(*rate) : ordered_json());
    }
  }
  return rates;
}

}  // namespace

std::vector<std::vector<unsigned>> cores_by_node(topology const& machine) {
  std::vector<std::vector<unsigned>> found(machine.nodes.size());
  for (processor const& p : machine.processors)
    if (p.thread == 0) found[p.node].push_back(p.os_index);
  return found;
}

ordered_json measure_between(topology const& machine, instruments const& by) {
  auto nodes = ordered_json::array();
  for (auto const& node : machine.nodes) nodes.push_back(node.os_index);
  return {{"nodes", nodes}, {"latency_ns", latencies(machine, by)}, {"read", read_rates(machine, by)}};
}

}  // namespace coset::cli
