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
  return text;
}

std::string line_warning(topology const& machine) {
  if (machine.line_bytes <= detail::line_spacing) return "";
  return "cache lines of " + std::to_string(machine.line_bytes) + " bytes hold words of several threads, which are " +
         std::to_string(detail::line_spacing) + " apart: results are right, but late";
}

}  // namespace coset::numa
