// SPDX-License-Identifier: Apache-2.0
// Which memory serves a node best. Pure data: no hwloc, no system calls.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/text/format.hpp"
#include "coset/topology.hpp"

namespace coset::inline COSET_ABI {
namespace {

/// How much better a memory is than the node's own, the less the better; empty if it is not.
std::optional<std::uint64_t> advantage(memory_kind kind, node_memory const& of, node_memory const& own, unsigned node) {
  if (of.access.size() <= node || own.access.size() <= node) return {};
  memory_access const &there = of.access[node], &here = own.access[node];
  bool const is_slow = of.tier == memory_tier::slow && kind != memory_kind::large_capacity;
  if (!there.local || of.tier == memory_tier::device || is_slow) return {};
  if (kind == memory_kind::large_capacity)
    return of.node.bytes > own.node.bytes ? std::optional(~of.node.bytes) : std::nullopt;
  if (kind != memory_kind::low_latency)
    return of.tier == memory_tier::fast ? std::optional(~there.bandwidth) : std::nullopt;
  // What differs by less than a fifth is no reason to leave the node, as it makes no tier.
  bool const is_shorter = there.latency != 0 && there.latency * 5 <= here.latency * 4;
  return is_shorter ? std::optional(there.latency) : std::nullopt;
}

}  // namespace

std::vector<numa_node> topology::memories_for(memory_kind kind, unsigned node) const {
  if (node >= nodes.size())
    throw topology_error(text::format("there is no node {} among the {} of {}", node, nodes.size(), name));
  numa_node const& itself = nodes[node];
  auto const own =
      std::ranges::find_if(memories, [&](auto const& each) { return each.node.os_index == itself.os_index; });
  if (kind == memory_kind::standard || own == memories.end()) return {itself};

  std::vector<numa_node> result{itself};
  std::vector<std::uint64_t> advantages;  // of those in front of it
  for (node_memory const& each : memories) {
    auto const found = advantage(kind, each, *own, node);
    if (!found) continue;
    auto const at = std::upper_bound(advantages.begin(), advantages.end(), *found);
    result.insert(result.begin() + (at - advantages.begin()), each.node);
    advantages.insert(at, *found);
  }
  return result;
}

}  // namespace coset
