// SPDX-License-Identifier: Apache-2.0
// Tiers by the node's name where hwloc gives one, by bandwidth and latency where the firmware tells them (HMAT), and
// cautious guesses otherwise. hwloc's own tiers are of no use here: it has them from 2.10 on, and as numbers alone.
#include "numa/tiers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace coset::numa {
namespace {

struct word_of_tier {
  std::string_view word;
  memory_tier tier;
};

/// The first that is part of what hwloc calls a node: "CXL-GPUMemory" is a GPU's, and "CXL-DRAM" no ordinary memory.
constexpr std::array words{word_of_tier{"GPU", memory_tier::device},  word_of_tier{"CXL", memory_tier::slow},
                           word_of_tier{"NVM", memory_tier::slow},    word_of_tier{"HBM", memory_tier::fast},
                           word_of_tier{"MCDRAM", memory_tier::fast}, word_of_tier{"DRAM", memory_tier::ordinary}};

/// In that of their logical indices.
std::vector<hwloc_obj_t> nodes_in_order(hwloc_topology_t machine) {
  std::vector<hwloc_obj_t> all;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node));)
    all.push_back(node);
  return all;
}

/// Empty where hwloc tells nothing. Older versions note of a memory that was a device's what that was, and no subtype.
std::string_view type_of(hwloc_obj_t node) {
  if (node->subtype != nullptr) return node->subtype;
  char const* const noted = hwloc_obj_get_info_by_name(node, "DAXType");
  return noted != nullptr ? noted : std::string_view();
}

/// As processors of `from` reach it; 0: unknown.
std::uint64_t attribute(hwloc_topology_t machine, hwloc_memattr_id_t which, hwloc_obj_t node, hwloc_obj_t from) {
  hwloc_location initiator = {};
  initiator.type = HWLOC_LOCATION_TYPE_CPUSET;
  initiator.location.cpuset = from->cpuset;
  hwloc_uint64_t value = 0;
  if (hwloc_bitmap_iszero(from->cpuset)) return 0;
  return hwloc_memattr_get_value(machine, which, node, &initiator, 0, &value) == 0 ? value : 0;
}

std::uint64_t bandwidth(hwloc_topology_t machine, hwloc_obj_t node, hwloc_obj_t from) {
  return attribute(machine, HWLOC_MEMATTR_ID_BANDWIDTH, node, from);
}
std::uint64_t latency(hwloc_topology_t machine, hwloc_obj_t node, hwloc_obj_t from) {
  return attribute(machine, HWLOC_MEMATTR_ID_LATENCY, node, from);
}

/// Smaller differences are those of two measurements of the same kind of memory.
bool exceeds(std::uint64_t more, std::uint64_t less) { return less != 0 && more * 4 >= less * 5; }

/// Empty where the name says nothing.
std::optional<memory_tier> tier_named(hwloc_obj_t node) {
  auto const type = type_of(node);
  for (auto const& [word, tier] : words)
    if (type.find(word) != std::string_view::npos) return tier;
  return {};
}

/// What a node without a telling name is compared with: the memory of the processors that it serves, or of some of them. Of
/// several nodes with the same processors the one with the shortest latency is that memory, as no fast memory answers
/// sooner; without latencies it is the first. Null for that one itself.
hwloc_obj_t reference_of(hwloc_topology_t machine, hwloc_obj_t node) {
  bool const has_processors = !hwloc_bitmap_iszero(node->cpuset);
  hwloc_obj_t best = nullptr;
  for (hwloc_obj_t const other : nodes_in_order(machine)) {
    if (tier_named(other).value_or(memory_tier::ordinary) != memory_tier::ordinary) continue;
    if (hwloc_bitmap_iszero(other->cpuset)) continue;
    if (has_processors && !hwloc_bitmap_isincluded(other->cpuset, node->cpuset)) continue;
    bool const has_fewer = best == nullptr || hwloc_bitmap_weight(other->cpuset) < hwloc_bitmap_weight(best->cpuset);
    bool const is_nearer = best != nullptr && hwloc_bitmap_isequal(other->cpuset, best->cpuset) &&
                           latency(machine, other, other) != 0 &&
                           exceeds(latency(machine, best, other), latency(machine, other, other));
    if (has_fewer || is_nearer) best = other;
  }
  return best != node ? best : nullptr;
}

memory_tier compared(hwloc_topology_t machine, hwloc_obj_t node, hwloc_obj_t with) {
  auto const own_bandwidth = bandwidth(machine, node, with), usual_bandwidth = bandwidth(machine, with, with);
  auto const own_latency = latency(machine, node, with), usual_latency = latency(machine, with, with);
  if (exceeds(own_bandwidth, usual_bandwidth)) return memory_tier::fast;
  if (exceeds(usual_bandwidth, own_bandwidth) || exceeds(own_latency, usual_latency)) return memory_tier::slow;
  bool const is_told = (own_bandwidth != 0 && usual_bandwidth != 0) || (own_latency != 0 && usual_latency != 0);
  // Each processor of this system is of one node alone: another node with the same ones has none of its own. A description
  // may have left out which of a die's clusters each node belongs to.
  bool const is_alone = hwloc_bitmap_iszero(node->cpuset) || hwloc_topology_is_thissystem(machine) != 0;
  return is_told || (!is_alone && type_of(node).empty()) ? memory_tier::ordinary : memory_tier::slow;
}

memory_tier tier_of(hwloc_topology_t machine, hwloc_obj_t node) {
  if (auto const named = tier_named(node)) return *named;
  // The processors of such a node are there, but not permitted.
  if (hwloc_bitmap_iszero(node->cpuset) && !hwloc_bitmap_iszero(node->complete_cpuset)) return memory_tier::ordinary;
  hwloc_obj_t const reference = reference_of(machine, node);
  if (reference != nullptr) return compared(machine, node, reference);
  return hwloc_bitmap_iszero(node->cpuset) ? memory_tier::slow : memory_tier::ordinary;
}

/// Local to those processors that hwloc notes, and if there are none, to the nodes from which it is least far.
void find_local(hwloc_obj_t node, std::vector<hwloc_obj_t> const& users, std::vector<memory_access>& all) {
  if (!hwloc_bitmap_iszero(node->cpuset)) {
    for (std::size_t u = 0; u < users.size(); ++u)
      all[u].local = all[u].local || hwloc_bitmap_intersects(node->cpuset, users[u]->cpuset) != 0;
  } else if (hwloc_bitmap_iszero(node->complete_cpuset)) {
    unsigned least = ~0u;
    for (memory_access const& each : all) least = std::min(least, each.distance);
    for (memory_access& each : all) each.local = each.local || each.distance == least;
  }
}

}  // namespace

tiers tiers_of(hwloc_topology_t machine) {
  auto const all = nodes_in_order(machine);
  tiers result;
  bool is_any_ordinary = false;
  for (hwloc_obj_t const node : all) {
    result.push_back(tier_of(machine, node));
    is_any_ordinary |= result.back() == memory_tier::ordinary && !hwloc_bitmap_iszero(node->cpuset);
  }
  // Where all processors have nothing but fast memory, that is their ordinary one.
  for (std::size_t n = 0; n < all.size() && !is_any_ordinary; ++n)
    if (result[n] == memory_tier::fast && !hwloc_bitmap_iszero(all[n]->cpuset)) result[n] = memory_tier::ordinary;
  return result;
}

std::vector<std::vector<unsigned>> distances_between(hwloc_topology_t machine, std::vector<numa_node> const& nodes) {
  unsigned found = 1;  // the room that `all` has, before the call
  hwloc_distances_s* all = nullptr;
  int const status = hwloc_distances_get_by_type(machine, HWLOC_OBJ_NUMANODE, &found, &all, numa::latencies, 0);
  if (status != 0 || found == 0) return {};
  auto const release = [machine](hwloc_distances_s* each) { hwloc_distances_release(machine, each); };
  std::unique_ptr<hwloc_distances_s, decltype(release)> const matrix(all, release);

  std::vector<unsigned> rows;
  for (auto const& node : nodes)
    for (unsigned row = 0; row < matrix->nbobjs; ++row)
      if (matrix->objs[row]->os_index == node.os_index) rows.push_back(row);
  if (rows.size() != nodes.size()) return {};

  std::vector<std::vector<unsigned>> result;
  for (unsigned const from : rows) {
    auto& line = result.emplace_back();
    for (unsigned const to : rows) line.push_back(static_cast<unsigned>(matrix->values[from * matrix->nbobjs + to]));
  }
  return result;
}

std::vector<node_memory> memories_of(hwloc_topology_t machine, tiers const& of, std::vector<hwloc_obj_t> const& users) {
  auto const all = nodes_in_order(machine);
  std::vector<numa_node> nodes;
  for (hwloc_obj_t const node : all) nodes.push_back({node->os_index, node->attr->numanode.local_memory});
  auto const distances = distances_between(machine, nodes);

  std::vector<node_memory> memories;
  for (std::size_t m = 0; m < all.size(); ++m) {
    node_memory& next = memories.emplace_back();
    next.node = nodes[m];
    next.tier = of[m];
    next.type = type_of(all[m]);
    for (hwloc_obj_t const user : users) {
      memory_access& access = next.access.emplace_back();
      access.bandwidth = bandwidth(machine, all[m], user);
      access.latency = latency(machine, all[m], user);
      access.local = user == all[m];
      if (!distances.empty()) access.distance = distances[user->logical_index][m];
    }
    find_local(all[m], users, next.access);
  }
  return memories;
}

}  // namespace coset::numa
