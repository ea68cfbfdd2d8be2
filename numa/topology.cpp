// SPDX-License-Identifier: Apache-2.0
// Reads a machine through hwloc and forgets hwloc: what leaves this file is plain data.
#include "coset/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "numa/mask.hpp"

namespace coset {
namespace {

using namespace std::string_view_literals;

struct destroyer {
  void operator()(hwloc_topology* machine) const { hwloc_topology_destroy(machine); }
};
using handle = std::unique_ptr<hwloc_topology, destroyer>;

handle load(std::string const& name, std::function<int(hwloc_topology_t)> const& choose_source) {
  auto const fail = [&] {
    throw topology_error("cannot read the topology of " + name + ": " + std::system_category().message(errno));
  };
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail();
  handle machine(raw);
  if (choose_source(raw) != 0 || hwloc_topology_load(raw) != 0) fail();
  return machine;
}

// Numbers from 0 in the order of first appearance.
template <typename Key>
class numbering {
 public:
  unsigned operator()(Key const& key) {
    return numbers_.try_emplace(key, static_cast<unsigned>(numbers_.size())).first->second;
  }

 private:
  std::map<Key, unsigned> numbers_;
};

hwloc_obj_t ancestor_or(hwloc_obj_t object, hwloc_obj_type_t type, hwloc_obj_t otherwise) {
  while (object != nullptr && object->type != type) object = object->parent;
  return object != nullptr ? object : otherwise;
}

// High-bandwidth, non-volatile, specific-purpose and GPU memory all carry a subtype; plain memory has none or says so.
bool is_ordinary(hwloc_obj_t node) {
  return (node->subtype == nullptr || node->subtype == "DRAM"sv) && !hwloc_bitmap_iszero(node->cpuset);
}

// The node whose memory serves a processor. A processor can be local to several nodes, to none, or only to special
// memory: the nearest enclosing object with an ordinary node decides, the most local node of those first.
hwloc_obj_t node_serving(hwloc_topology_t machine, hwloc_obj_t pu) {
  auto const preference = [](hwloc_obj_t node) {
    return std::tuple(hwloc_bitmap_weight(node->cpuset), node->logical_index);
  };
  for (hwloc_obj_t around = pu; around != nullptr; around = around->parent) {
    hwloc_obj_t best = nullptr;
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node));) {
      if (!hwloc_bitmap_isset(around->nodeset, node->os_index) || !is_ordinary(node)) continue;
      if (best == nullptr || preference(node) < preference(best)) best = node;
    }
    if (best != nullptr) return best;
  }
  return hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, 0);  // hwloc always has one
}

// How fast cores are beside each other; equal where nobody knows. The kernel's own capacity goes before hwloc's
// ranking, which gives up on ties.
int speed_of(hwloc_topology_t machine, hwloc_obj_t pu) {
  int const kind = hwloc_cpukinds_get_by_cpuset(machine, pu->cpuset, 0);
  if (kind < 0) return -1;
  int efficiency = -1;
  unsigned notes = 0;
  hwloc_info_s* note = nullptr;
  hwloc_cpukinds_get_info(machine, static_cast<unsigned>(kind), nullptr, &efficiency, &notes, &note, 0);
  auto const end = note + notes;
  auto const capacity = std::find_if(note, end, [](auto const& each) { return each.name == "LinuxCapacity"sv; });
  return capacity != end ? std::atoi(capacity->value) : efficiency;
}

struct usable {
  hwloc_obj_t pu;
  hwloc_obj_t node;
  int speed;
};

// In hwloc's order, but node by node: hwloc keeps packages together, which a node may span.
std::vector<usable> usable_in_order(hwloc_topology_t machine, std::function<bool(unsigned)> const& allowed) {
  std::vector<usable> result;
  std::map<hwloc_obj_t, unsigned> appeared;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu));) {
    if (!allowed(pu->os_index)) continue;
    result.push_back({pu, node_serving(machine, pu), speed_of(machine, pu)});
    appeared.try_emplace(result.back().node, static_cast<unsigned>(appeared.size()));
  }
  std::ranges::stable_sort(result, {}, [&](usable const& each) { return appeared[each.node]; });
  return result;
}

std::vector<processor> number(hwloc_topology_t machine, std::vector<usable> const& order) {
  numbering<hwloc_obj_t> cores, l2s, nodes, packages;
  numbering<std::pair<hwloc_obj_t, hwloc_obj_t>> l3s;
  std::map<unsigned, unsigned> threads;
  std::set<int, std::greater<>> speeds;
  for (auto const& each : order) speeds.insert(each.speed);

  std::vector<processor> result;
  for (auto const& [pu, node, speed] : order) {
    hwloc_obj_t const core = ancestor_or(pu, HWLOC_OBJ_CORE, pu);
    hwloc_obj_t const package = ancestor_or(pu, HWLOC_OBJ_PACKAGE, hwloc_get_root_obj(machine));
    processor next;
    next.os_index = pu->os_index;
    next.core = cores(core);
    next.l2 = l2s(ancestor_or(pu, HWLOC_OBJ_L2CACHE, core));
    next.l3 = l3s({ancestor_or(pu, HWLOC_OBJ_L3CACHE, package), node});
    next.node = nodes(node);
    next.package = packages(package);
    next.kind = static_cast<unsigned>(std::distance(speeds.begin(), speeds.find(speed)));
    next.thread = threads[next.core]++;
    result.push_back(next);
  }
  return result;
}

std::vector<numa_node> nodes_of(std::vector<usable> const& order) {
  std::vector<numa_node> result;
  for (auto const& each : order)
    if (result.empty() || result.back().os_index != each.node->os_index)
      result.push_back({each.node->os_index, each.node->attr->numanode.local_memory});
  return result;
}

// The machine's own latency matrix, cut to the nodes in use; empty unless it covers them all.
std::vector<std::vector<unsigned>> distances_between(hwloc_topology_t machine, std::vector<numa_node> const& nodes) {
  constexpr unsigned long kind = HWLOC_DISTANCES_KIND_MEANS_LATENCY;
  unsigned found = 1;  // the room that `all` has, before the call
  hwloc_distances_s* all = nullptr;
  int const status = hwloc_distances_get_by_type(machine, HWLOC_OBJ_NUMANODE, &found, &all, kind, 0);
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

/// What a machine tells of its caches may be what its host has; it is only for thresholds between plans.
std::uint64_t cache_bytes(std::vector<usable> const& order) {
  for (hwloc_obj_type_t const level : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    std::set<hwloc_obj_t> caches;
    for (auto const& each : order)
      if (hwloc_obj_t const cache = ancestor_or(each.pu, level, nullptr)) caches.insert(cache);
    std::uint64_t bytes = 0;
    for (hwloc_obj_t const cache : caches) bytes += cache->attr->cache.size;
    if (bytes > 0) return bytes;
  }
  return 0;
}

topology read(hwloc_topology_t machine, std::string name, std::function<bool(unsigned)> const& allowed) {
  auto const order = usable_in_order(machine, allowed);
  if (order.empty()) throw topology_error("no processor of " + name + " may be used");
  topology result;
  result.name = std::move(name);
  result.this_system = hwloc_topology_is_thissystem(machine) != 0;
  result.processors = number(machine, order);
  result.nodes = nodes_of(order);
  result.distances = distances_between(machine, result.nodes);
  result.cache_bytes = cache_bytes(order);
  return result;
}

bool anything(unsigned) { return true; }
int native(hwloc_topology_t) { return 0; }

}  // namespace

topology topology::machine() {
  std::string const name = "this machine";
  auto const machine = load(name, native);
  // The environment can put another machine in this one's place; a mask says nothing about that.
  if (!hwloc_topology_is_thissystem(machine.get())) return read(machine.get(), name, anything);
  auto const mask = numa::mask::of_thread(0);
  return read(machine.get(), name, [&](unsigned os_index) { return mask.contains(os_index); });
}

topology topology::whole_machine() {
  std::string const name = "this machine";
  return read(load(name, native).get(), name, anything);
}

topology topology::synthetic(std::string const& description) {
  auto const name = "\"" + description + "\"";
  auto const machine =
      load(name, [&](hwloc_topology_t raw) { return hwloc_topology_set_synthetic(raw, description.c_str()); });
  return read(machine.get(), description, anything);
}

topology topology::xml(std::string const& file) {
  auto const machine = load(file, [&](hwloc_topology_t raw) { return hwloc_topology_set_xml(raw, file.c_str()); });
  return read(machine.get(), std::filesystem::path(file).filename(), anything);
}

}  // namespace coset
