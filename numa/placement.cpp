// SPDX-License-Identifier: Apache-2.0
// Which processors the ranks of a team get. Pure data: no hwloc, no system calls.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "coset/topology.hpp"

namespace coset::inline COSET_ABI {
namespace {

using positions = std::vector<std::size_t>;  // indices into topology::processors

positions all_positions(topology const& machine) {
  positions all(machine.processors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// The best processors (cores before hardware threads, fast cores before slow ones, then the machine's order), handed
// out in the machine's order, so that the ranks of a node are consecutive.
positions compact_positions(topology const& machine, std::size_t ranks) {
  auto chosen = all_positions(machine);
  std::ranges::sort(chosen, {}, [&](std::size_t i) {
    auto const& each = machine.processors[i];
    return std::tuple(each.thread, each.kind, i);
  });
  chosen.resize(ranks);
  std::ranges::sort(chosen);
  return chosen;
}

// The same preferences, but every node gives its next processor before any gives another. Nodes that run out are
// passed over, which keeps unequal nodes as balanced as they can be.
positions scatter_positions(topology const& machine, std::size_t ranks) {
  std::map<std::tuple<unsigned, unsigned, unsigned>, unsigned> given;
  std::vector<unsigned> turn;
  for (auto const& each : machine.processors) turn.push_back(given[{each.thread, each.kind, each.node}]++);

  auto chosen = all_positions(machine);
  std::ranges::sort(chosen, {}, [&](std::size_t i) {
    auto const& each = machine.processors[i];
    return std::tuple(each.thread, each.kind, turn[i], each.node);
  });
  chosen.resize(ranks);
  return chosen;
}

}  // namespace

unsigned topology::cores() const {
  std::set<unsigned> distinct;
  for (auto const& each : processors) distinct.insert(each.core);
  return static_cast<unsigned>(distinct.size());
}

std::vector<processor> topology::place(rank_t ranks, placement place) const {
  if (ranks > processors.size() && place != placement::unbound)
    throw topology_error(std::to_string(ranks) + " ranks do not fit the " + std::to_string(processors.size()) +
                         " usable hardware threads of " + name);
  std::size_t const distinct = std::min<std::size_t>(ranks, processors.size());
  auto const chosen =
      place == placement::scatter ? scatter_positions(*this, distinct) : compact_positions(*this, distinct);
  std::vector<processor> placed;
  for (rank_t rank = 0; rank < ranks; ++rank) placed.push_back(processors[chosen[rank % distinct]]);
  return placed;
}

std::vector<processor> topology::place(std::vector<unsigned> const& os_indices) const {
  std::vector<processor> placed;
  std::set<unsigned> taken;
  for (unsigned const os_index : os_indices) {
    auto const found = std::ranges::find(processors, os_index, &processor::os_index);
    if (found == processors.end())
      throw topology_error("processor " + std::to_string(os_index) + " is unknown or not allowed on " + name);
    if (!taken.insert(os_index).second)
      throw topology_error("processor " + std::to_string(os_index) + " is listed for two ranks");
    placed.push_back(*found);
  }
  return placed;
}

}  // namespace coset
