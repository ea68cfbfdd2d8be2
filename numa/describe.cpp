// SPDX-License-Identifier: Apache-2.0
// A topology for people.
#include "numa/describe.hpp"

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "coset/detail/line_spacing.hpp"
#include "numa/kinds.hpp"

namespace coset::numa {
namespace {

std::string distinct(std::vector<processor> const& processors, unsigned processor::*what) {
  std::set<unsigned> values;
  for (auto const& each : processors) values.insert(each.*what);
  return std::to_string(values.size());
}

std::string mebibytes(std::uint64_t bytes) { return bytes == 0 ? "-" : std::to_string(bytes >> 20) + " MiB"; }

// From the nearest other node to the farthest.
std::string distance_range(topology const& machine, unsigned node) {
  if (machine.distances.empty() || machine.nodes.size() < 2) return "-";
  auto others = machine.distances[node];
  others.erase(others.begin() + node);
  auto const [nearest, farthest] = std::ranges::minmax(others);
  return std::to_string(nearest) + (nearest == farthest ? "" : ".." + std::to_string(farthest));
}

using cells = std::vector<std::string>;

// The third cell is for L3 caches, which not all machines report.
std::string row(topology const& machine, cells texts) {
  if (!machine.has_l3) texts.erase(texts.begin() + 2);
  std::ostringstream out;
  for (auto const& cell : texts) out << std::setw(12) << cell;
  return out.str() + "\n";
}

cells cells_of(std::string const& label, std::vector<processor> const& own, std::string const& bytes,
               std::string const& distance) {
  return {label,
          distinct(own, &processor::package),
          distinct(own, &processor::l3),
          distinct(own, &processor::l2),
          distinct(own, &processor::core),
          std::to_string(own.size()),
          distinct(own, &processor::kind),
          bytes,
          distance};
}

std::string or_unknown(std::uint64_t number) { return number == 0 ? "-" : std::to_string(number); }

/// Best values, as the nodes have them to which the memory is local: they are the same for all mostly.
std::string memory_row(topology const& machine, node_memory const& memory) {
  std::string local = "  ";
  std::uint64_t bandwidth = 0, latency = 0;
  for (std::size_t node = 0; node < memory.access.size(); ++node) {
    memory_access const& from = memory.access[node];
    if (!from.local) continue;
    local += (local.size() == 2 ? "" : ",") + std::to_string(machine.nodes[node].os_index);
    bandwidth = std::max(bandwidth, from.bandwidth);
    if (latency == 0 || from.latency < latency) latency = from.latency;
  }
  std::ostringstream out;
  for (auto const& cell :
       {std::to_string(memory.node.os_index), std::string(names_of_tiers[static_cast<std::size_t>(memory.tier)]),
        memory.type.empty() ? "-" : memory.type, mebibytes(memory.node.bytes), or_unknown(bandwidth),
        or_unknown(latency), local.size() == 2 ? "-" : local})
    out << std::setw(12) << cell;
  return out.str() + "\n";
}

/// The memory that each node is given for each kind, if any is another's.
std::string choices(topology const& machine) {
  std::string text;
  for (unsigned node = 0; node < machine.nodes.size(); ++node) {
    unsigned const own = machine.nodes[node].os_index;
    std::string line;
    for (std::size_t kind = 1; kind < names_of_kinds.size(); ++kind) {
      auto const best = machine.memories_for(static_cast<memory_kind>(kind + 1), node).front().os_index;
      if (best != own)
        line += (line.empty() ? "" : ", ") + std::string(names_of_kinds[kind]) + " is memory " + std::to_string(best);
    }
    if (!line.empty()) text += "for processors of node " + std::to_string(own) + ' ' + line + '\n';
  }
  return text;
}

/// Empty where all memory is ordinary and belongs to processors.
std::string memories_text(topology const& machine) {
  if (!has_several_tiers(machine)) return {};
  std::ostringstream out;
  for (auto const* head : {"memory", "tier", "type", "bytes", "MiB/s", "ns", "of nodes"}) out << std::setw(12) << head;
  auto text = out.str() + "\n";
  for (auto const& each : machine.memories) text += memory_row(machine, each);
  return text + choices(machine);
}

}  // namespace

std::string describe(topology const& machine) {
  auto text = machine.name + '\n';
  text += row(machine,
              {"node", "packages", "L3 clusters", "L2 clusters", "cores", "threads", "core kinds", "memory", "far"});
  std::uint64_t bytes = 0;
  for (unsigned node = 0; node < machine.nodes.size(); ++node) {
    std::vector<processor> own;
    std::ranges::copy_if(machine.processors, std::back_inserter(own), [=](auto const& p) { return p.node == node; });
    auto const& [os_index, node_bytes] = machine.nodes[node];
    text += row(machine, cells_of(std::to_string(os_index), own, mebibytes(node_bytes), distance_range(machine, node)));
    bytes += node_bytes;
  }
  if (machine.nodes.size() > 1) text += row(machine, cells_of("all", machine.processors, mebibytes(bytes), "-"));
  return text + memories_text(machine);
}

std::string line_warning(topology const& machine) {
  if (machine.line_bytes <= detail::line_spacing) return "";
  return "cache lines of " + std::to_string(machine.line_bytes) + " bytes hold words of several threads, which are " +
         std::to_string(detail::line_spacing) + " apart: results are right, but late";
}

}  // namespace coset::numa
