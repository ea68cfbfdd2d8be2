// SPDX-License-Identifier: Apache-2.0
// A topology for people.
#include "numa/describe.hpp"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

namespace coset::numa {
namespace {

template <typename Projection>
std::size_t distinct(std::vector<processor> const& processors, Projection projection) {
  std::set<unsigned> values;
  for (auto const& each : processors) values.insert(each.*projection);
  return values.size();
}

std::string mebibytes(std::uint64_t bytes) { return bytes == 0 ? "-" : std::to_string(bytes >> 20) + " MiB"; }

void describe_node(std::ostream& out, topology const& machine, unsigned node) {
  std::vector<processor> own;
  auto const is_here = [node](processor const& each) { return each.node == node; };
  std::ranges::copy_if(machine.processors, std::back_inserter(own), is_here);
  out << std::setw(6) << machine.nodes[node].os_index << std::setw(8) << distinct(own, &processor::core)  //
      << std::setw(9) << own.size() << std::setw(6) << distinct(own, &processor::l2)                      //
      << std::setw(6) << distinct(own, &processor::l3) << std::setw(14) << mebibytes(machine.nodes[node].bytes);
  if (!machine.distances.empty()) {
    out << "  ";
    for (unsigned const distance : machine.distances[node]) out << ' ' << distance;
  }
  out << '\n';
}

}  // namespace

std::string describe(topology const& machine) {
  auto const& all = machine.processors;
  std::ostringstream out;
  out << machine.name << ": " << machine.cores() << " cores, " << all.size() << " hardware threads, "
      << distinct(all, &processor::l2) << " L2 clusters, " << distinct(all, &processor::l3) << " L3 clusters, "
      << machine.nodes.size() << " nodes, " << distinct(all, &processor::package) << " packages, "
      << distinct(all, &processor::kind) << " core kinds\n";
  out << "  node   cores  threads    L2    L3        memory";
  out << (machine.distances.empty() ? "\n" : "   distances\n");
  for (unsigned node = 0; node < machine.nodes.size(); ++node) describe_node(out, machine, node);
  return out.str();
}

}  // namespace coset::numa
