// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/machine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace coset::cache {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;
constexpr cache_sizes usual_sizes{1 * mebibyte, 2 * mebibyte};
constexpr std::uint64_t most_l3_per_core = 4 * mebibyte;

/// Numbers from 0 in the order of their first use.
class numbering {
 public:
  std::uint32_t operator()(std::uint64_t name) {
    return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::size_t count() const { return numbers_.size(); }

 private:
  std::map<std::uint64_t, std::uint32_t> numbers_;
};

/// [outer]: whether it has more than one inner one.
std::vector<char> holds_several(std::set<std::pair<std::uint32_t, std::uint32_t>> const& outer_and_inner,
                                std::size_t outer) {
  std::vector<std::size_t> held(outer);
  for (auto const& [out, in] : outer_and_inner) ++held[out];
  std::vector<char> several;
  for (std::size_t const number : held) several.push_back(number > 1);
  return several;
}

}  // namespace

cache_sizes sizes_of(topology const& t) {
  cache_sizes sizes = usual_sizes;
  if (t.l2_bytes != 0) sizes.own = t.l2_bytes;
  if (t.has_l3 && t.cache_bytes != 0 && t.cores() > 0)
    sizes.l3 = std::min<std::uint64_t>(t.cache_bytes / t.cores(), most_l3_per_core);
  return sizes;
}

machine::machine(std::vector<processor> const& places, costs const& prices, cache_sizes caches)
    : costs_(prices), caches_(caches) {
  if (places.empty()) throw argument_error("caches are simulated of at least one rank");
  numbering cores, l3s, nodes, packages;
  std::set<std::pair<std::uint32_t, std::uint32_t>> l3_of_node, node_of_package;
  for (processor const& p : places) {
    // An L3 that spans nodes counts once for each.
    place const here{cores(p.core), l3s(std::uint64_t{p.node} << 32 | p.l3), nodes(p.node), packages(p.package)};
    l3_of_node.insert({here.node, here.l3});
    node_of_package.insert({here.package, here.node});
    at_.push_back(here);
  }
  several_l3_ = holds_several(l3_of_node, nodes.count());
  several_nodes_ = holds_several(node_of_package, packages.count());
  std::array const counts{2 * cores.count(), 2 * l3s.count(), 2 * nodes.count(), 2 * packages.count(), nodes.count()};
  for (std::size_t kind = 0; kind < link_kinds; ++kind) {
    first_link_[kind] = seconds_per_byte_.size();
    seconds_per_byte_.resize(seconds_per_byte_.size() + counts[kind], 1 / costs_.link[kind]);
  }
}

level machine::joining(rank_t a, rank_t b) const {
  place const &x = at_[a], &y = at_[b];
  if (x.core == y.core) return level::core;
  if (x.l3 == y.l3) return level::l3;
  if (x.package != y.package) return level::machine;
  return x.node == y.node ? level::node : level::package;
}

std::size_t machine::link(link_kind kind, std::uint32_t number, bool inwards) const {
  std::size_t const each = kind == link_kind::memory ? 1 : 2;
  return first_link_[static_cast<std::size_t>(kind)] + number * each + (inwards ? 1 : 0);
}

/// What is the only one of its kind inside the next larger one has no link of its own.
void machine::cross_outwards(way& w, place const& from, place const& to) const {
  if (from.l3 != to.l3) {
    if (several_l3_[from.node]) w.cross(link(link_kind::l3, from.l3, false));
    if (several_l3_[to.node]) w.cross(link(link_kind::l3, to.l3, true));
  }
  if (from.node != to.node) {
    if (several_nodes_[from.package]) w.cross(link(link_kind::node, from.node, false));
    if (several_nodes_[to.package]) w.cross(link(link_kind::node, to.node, true));
  }
  if (from.package != to.package) {
    w.cross(link(link_kind::package, from.package, false));
    w.cross(link(link_kind::package, to.package, true));
  }
}

way machine::between(rank_t holder, rank_t reader, bool from_core) const {
  way w;
  place const &from = at_[holder], &to = at_[reader];
  if (from.core == to.core) return w;
  if (from_core) w.cross(link(link_kind::core, from.core, false));
  cross_outwards(w, from, to);
  return w;
}

way machine::from_memory(rank_t home, rank_t reader) const {
  way w;
  place const &from = at_[home], &to = at_[reader];
  w.cross(link(link_kind::memory, from.node, false));
  if (from.node == to.node) {
    if (several_l3_[to.node]) w.cross(link(link_kind::l3, to.l3, true));
  } else {
    place memory = from;
    memory.l3 = to.l3;  // it lies behind no L3, the reader does
    cross_outwards(w, memory, to);
    if (several_l3_[to.node]) w.cross(link(link_kind::l3, to.l3, true));
  }
  return w;
}

double machine::memory_latency(rank_t home, rank_t reader) const {
  level const l = joining(home, reader);
  bool const is_remote = l == level::package || l == level::machine;
  return costs_.memory + (is_remote ? line(l).read - line(level::l3).read : 0);
}

double machine::seconds_with(double at_once, double latency) const {
  constexpr auto core = static_cast<std::size_t>(link_kind::core);
  return std::max(latency / (at_once * static_cast<double>(line_bytes)), 1 / costs_.link[core]);
}

double machine::stream_seconds(double latency) const { return seconds_with(costs_.streams, latency); }

double machine::store_seconds(double latency) const { return seconds_with(costs_.stores, latency); }

residence machine::of_arrays(std::uint64_t bytes_each) const {
  if (bytes_each <= caches_.own) return residence::own_cache;
  return bytes_each <= caches_.own + caches_.l3 ? residence::l3 : residence::memory;
}

}  // namespace coset::cache
