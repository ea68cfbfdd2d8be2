// SPDX-License-Identifier: Apache-2.0
// Reads a machine through hwloc and forgets hwloc: what leaves this file is plain data.
#include "coset/topology.hpp"

#include <dirent.h>

#include <algorithm>
#include <array>
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

#include "base/environment/variables.hpp"
#include "numa/affinity.hpp"
#include "numa/hwloc.hpp"
#include "numa/process/fork.hpp"
#include "numa/process/remembered.hpp"
#include "numa/share.hpp"
#include "numa/tiers.hpp"

namespace coset::inline COSET_ABI {
namespace {

using namespace std::string_view_literals;
using numa::handle;
using numa::load;

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

using objects = std::vector<hwloc_obj_t>;

// The nodes whose memory is nearest to a processor. A processor can be local to several nodes, to none, or only to
// special memory: the nearest enclosing object with an ordinary node decides, and its most local nodes are taken.
objects nodes_nearest(hwloc_topology_t machine, numa::tiers const& tiers, hwloc_obj_t pu) {
  auto const is_ordinary = [&](hwloc_obj_t node) {
    return tiers[node->logical_index] == memory_tier::ordinary && !hwloc_bitmap_iszero(node->cpuset);
  };
  auto const locality = [pu](hwloc_obj_t node) {
    return std::tuple(!hwloc_bitmap_isset(node->cpuset, pu->os_index), hwloc_bitmap_weight(node->cpuset));
  };
  for (hwloc_obj_t around = pu; around != nullptr; around = around->parent) {
    objects best;
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node));) {
      if (!hwloc_bitmap_isset(around->nodeset, node->os_index) || !is_ordinary(node)) continue;
      if (!best.empty() && locality(node) < locality(best.front())) best.clear();
      if (best.empty() || hwloc_bitmap_isequal(node->cpuset, best.front()->cpuset)) best.push_back(node);
    }
    if (!best.empty()) return best;
  }
  return {hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, 0)};  // hwloc always has one
}

// The node that serves each processor. If several nodes are equally near to the same cores, each serves its share of
// them, in order: this happens on a die of several clusters that the description does not distinguish. Not on this
// system: its kernel has every processor on one node, and another node with the same cores has none of its own.
std::map<hwloc_obj_t, hwloc_obj_t> nodes_serving(hwloc_topology_t machine, numa::tiers const& tiers) {
  std::map<objects, std::vector<objects>> served;  // nodes, and the processors of each core that they are nearest to
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu));) {
    auto& cores = served[nodes_nearest(machine, tiers, pu)];
    auto const core_of = [](hwloc_obj_t each) { return ancestor_or(each, HWLOC_OBJ_CORE, each); };
    if (cores.empty() || core_of(cores.back().front()) != core_of(pu)) cores.emplace_back();
    cores.back().push_back(pu);
  }
  bool const here = hwloc_topology_is_thissystem(machine) != 0;
  std::map<hwloc_obj_t, hwloc_obj_t> result;
  for (auto const& [nodes, cores] : served)
    for (std::size_t core = 0; core < cores.size(); ++core)
      for (hwloc_obj_t const pu : cores[core]) result[pu] = nodes[here ? 0 : core * nodes.size() / cores.size()];
  return result;
}

// The relative speed of cores; equal if unknown. The kernel's own capacity precedes hwloc's ranking, which gives up on
// ties.
int speed_of(hwloc_topology_t machine, hwloc_obj_t pu) {
  int const kind = hwloc_cpukinds_get_by_cpuset(machine, pu->cpuset, 0);
  if (kind < 0) return -1;
  int efficiency = -1;
  auto const notes = numa::notes_of_kind(machine, static_cast<unsigned>(kind), efficiency);
  char const* const capacity = numa::value_of(notes, "LinuxCapacity");
  return capacity != nullptr ? std::atoi(capacity) : efficiency;
}

struct usable {
  hwloc_obj_t pu;
  hwloc_obj_t node;
  int speed;
};

// In hwloc's order, but node by node: hwloc keeps packages together, which a node may span.
std::vector<usable> usable_in_order(hwloc_topology_t machine, numa::tiers const& tiers,
                                    std::function<bool(unsigned)> const& allowed) {
  std::vector<usable> result;
  auto const nodes = nodes_serving(machine, tiers);
  std::map<hwloc_obj_t, unsigned> appeared;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu));) {
    if (!allowed(pu->os_index)) continue;
    result.push_back({pu, nodes.at(pu), speed_of(machine, pu)});
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

// One per object, as number() counts them, not per index: a file may have given two nodes the same index.
objects nodes_of(std::vector<usable> const& order) {
  objects result;
  for (auto const& each : order)
    if (result.empty() || result.back() != each.node) result.push_back(each.node);
  return result;
}

/// A machine may report the caches of its host; the sizes are only for thresholds between plans.
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

std::uint64_t l2_bytes(std::vector<usable> const& order) {
  std::uint64_t smallest = 0;
  for (auto const& each : order) {
    hwloc_obj_t const cache = ancestor_or(each.pu, HWLOC_OBJ_L2CACHE, nullptr);
    std::uint64_t const bytes = cache != nullptr ? cache->attr->cache.size : 0;
    if (smallest == 0 || (bytes != 0 && bytes < smallest)) smallest = bytes;
  }
  return smallest;
}

// Levels may differ: Itanium's L1 has 64, its L2 128.
unsigned line_bytes(std::vector<usable> const& order) {
  unsigned longest = 0;
  for (auto const& each : order)
    for (hwloc_obj_t around = each.pu; around != nullptr; around = around->parent)
      if (hwloc_obj_type_is_dcache(around->type) != 0) longest = std::max(longest, around->attr->cache.linesize);
  return longest;
}

/// What the first usable processor's package tells of it; empty if it does not.
std::string told(std::vector<usable> const& order, char const* name) {
  for (hwloc_obj_t around = order.front().pu; around != nullptr; around = around->parent)
    if (char const* found = hwloc_obj_get_info_by_name(around, name); found != nullptr) return found;
  return {};
}

topology read(hwloc_topology_t machine, std::string name, std::function<bool(unsigned)> const& allowed) {
  auto const tiers = numa::tiers_of(machine);
  auto const order = usable_in_order(machine, tiers, allowed);
  if (order.empty()) throw topology_error("no processor of " + name + " may be used");
  topology result;
  result.name = std::move(name);
  result.this_system = hwloc_topology_is_thissystem(machine) != 0;
  result.processors = number(machine, order);
  auto const nodes = nodes_of(order);
  for (hwloc_obj_t const each : nodes) result.nodes.push_back({each->os_index, each->attr->numanode.local_memory});
  result.distances = numa::distances_between(machine, result.nodes);
  result.memories = numa::memories_of(machine, tiers, nodes);
  result.cache_bytes = cache_bytes(order);
  result.l2_bytes = l2_bytes(order);
  result.line_bytes = line_bytes(order);
  result.vendor = told(order, "CPUVendor");
  result.family = static_cast<unsigned>(std::strtoul(told(order, "CPUFamilyNumber").c_str(), nullptr, 10));
  result.has_l3 = std::ranges::any_of(
      order, [](usable const& each) { return ancestor_or(each.pu, HWLOC_OBJ_L3CACHE, nullptr) != nullptr; });
  return result;
}

bool anything(unsigned) { return true; }

// hwloc reads the variables itself, if there are such folders.
int find_folder(hwloc_topology_t, char const* path) {
  std::unique_ptr<DIR, int (*)(DIR*)> const found(opendir(path), closedir);
  return found ? 0 : -1;
}

// Where no processor is described, hwloc 2.4 makes some up, and hwloc 3 shows this machine's and says that it has read the
// folder.
int find_processors(hwloc_topology_t, char const* path) {
  std::error_code unreadable;
  for (auto const& each :
       std::filesystem::directory_iterator(std::filesystem::path(path) / "sys/devices/system/cpu", unreadable))
    if (std::filesystem::exists(each.path() / "topology", unreadable)) return 0;
  errno = ENOENT;
  return -1;
}

bool read_by_linux(hwloc_topology_t machine) {
  return std::ranges::any_of(numa::notes_of(machine), [](hwloc_info_s const& each) {
    return each.name == "Backend"sv && each.value == "Linux"sv;
  });
}

bool is_another(hwloc_topology_t machine) {
  return hwloc_topology_is_thissystem(machine) == 0 || !environment::value("HWLOC_THISSYSTEM").empty();
}

struct stand_in {
  environment::name variable;
  int (*choose)(hwloc_topology_t, char const* value);
  bool (*was_read)(hwloc_topology_t);
};

// In hwloc's order: of those that are set, the first counts. hwloc passes over those that it cannot read.
constexpr std::array stand_ins{stand_in{"HWLOC_FSROOT", find_processors, read_by_linux},
                               stand_in{"HWLOC_CPUID_PATH", find_folder, is_another},
                               stand_in{"HWLOC_SYNTHETIC", hwloc_topology_set_synthetic, is_another},
                               stand_in{"HWLOC_XMLFILE", hwloc_topology_set_xml, is_another}};

// This machine, or the one that replaces it by the environment.
handle load_native(std::string const& name) {
  auto const* const set =
      std::ranges::find_if(stand_ins, [](stand_in const& each) { return !environment::value(each.variable).empty(); });
  if (set == stand_ins.end()) return load(name, [](hwloc_topology_t) { return 0; });
  std::string const value(environment::value(set->variable)), setting = set->variable.text() + ("=" + value);
  auto machine = load(
      setting, [&](hwloc_topology_t raw) { return set->choose(raw, value.c_str()); },
      set->choose == hwloc_topology_set_xml ? value : "");
  if (!set->was_read(machine.get()))
    throw topology_error("cannot read the topology of " + setting + ": hwloc passes over it and shows this machine");
  return machine;
}

constexpr auto this_machine = "this machine";

/// What is set for hwloc may make another machine of this one, and change while the program runs.
bool hwloc_is_told() {
  auto const is_set = [](environment::name const& variable) { return !environment::value(variable).empty(); };
  // hwloc takes this one for 0 where it is there but empty.
  bool const this_system_is_set = environment::value("HWLOC_THISSYSTEM").data() != nullptr;
  return this_system_is_set || std::ranges::any_of(stand_ins, is_set, &stand_in::variable) ||
         is_set("HWLOC_COMPONENTS");
}

/// With these processors of it.
topology machine_of(numa::mask const& usable) {
  auto const read_now = [&] {
    return read(load_native(this_machine).get(), this_machine,
                [&](unsigned os_index) { return usable.contains(os_index); });
  };
  return hwloc_is_told() ? read_now() : numa::remembered(usable, read_now);
}

}  // namespace

topology topology::machine() {
  // The environment can replace this machine by another; a mask says nothing about that one.
  if (hwloc_is_told())
    if (auto const other = load_native(this_machine); !hwloc_topology_is_thissystem(other.get()))
      return read(other.get(), this_machine, anything);
  return machine_of(numa::affinity_of_process().processors);
}

/// Read once, which takes a millisecond: it does not change while a program runs. Never destroyed, as teams may be made
/// until the process ends.
topology topology::whole_machine() {
  numa::fork_waits const until_read;  // a child would wait for ever for a thread that it has not
  static topology const& all =
      *new topology([] { return read(load_native(this_machine).get(), this_machine, anything); }());
  return all;
}

topology topology::synthetic(std::string const& description) {
  auto const name = "\"" + description + "\"";
  auto const machine =
      load(name, [&](hwloc_topology_t raw) { return hwloc_topology_set_synthetic(raw, description.c_str()); });
  return read(machine.get(), description, anything);
}

topology topology::xml(std::string const& file) {
  auto const machine = load(
      file, [&](hwloc_topology_t raw) { return hwloc_topology_set_xml(raw, file.c_str()); }, file);
  return read(machine.get(), std::filesystem::path(file).filename(), anything);
}

}  // namespace coset

namespace coset::numa {

topology machine_for(rank_t ranks) {
  auto own = topology::machine();
  auto const siblings = launched_siblings();
  if (!siblings || !own.this_system || own.processors.size() != topology::whole_machine().processors.size()) return own;
  auto const processors = share_of(own, *siblings);
  if (ranks > processors.size()) return own;
  mask share;
  for (unsigned const os_index : processors) share.merge(mask::single(os_index));
  return machine_of(share);
}

}  // namespace coset::numa
