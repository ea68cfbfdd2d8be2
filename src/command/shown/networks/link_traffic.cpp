// SPDX-License-Identifier: Apache-2.0
// Volumes between pairs of hosts, and the links that they cross.
#include "command/shown/networks/link_traffic.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "planning/schedule/core/events.hpp"

namespace coset::schedule {
namespace {

/// A value on its way to a rank, or to a host.
struct crossing {
  rank_t from;
  slot_t slot;
  block_t block;
  rank_t to_host, to_rank;
  friend auto operator<=>(crossing const&, crossing const&) = default;
};

using host_pair = std::pair<rank_t, rank_t>;

/// By (from, to), in whole units.
std::map<host_pair, std::int64_t> volumes_between(schedule const& s, std::vector<rank_t> const& hosts, fetched how,
                                                  units const& unit) {
  if (hosts.size() != s.ranks)
    throw schedule_error("the hosts are given for " + std::to_string(hosts.size()) + " ranks, the schedule has " +
                         std::to_string(s.ranks));
  std::map<host_pair, std::int64_t> volumes;
  std::vector<crossing> crossings;
  for (auto const& step : s.steps) {
    crossings.clear();
    for (assignment const& a : step)
      for (source const& from : s.from(a))
        if (hosts[from.rank] != hosts[a.rank])
          crossings.push_back(
              {from.rank, from.slot, a.block, hosts[a.rank], how == fetched::once_per_host ? 0 : a.rank});
    std::ranges::sort(crossings);
    crossings.erase(std::unique(crossings.begin(), crossings.end()), crossings.end());
    for (crossing const& c : crossings) volumes[{hosts[c.from], c.to_host}] += unit.size[c.block];
  }
  return volumes;
}

}  // namespace

std::vector<link_load> host_traffic(schedule const& s, std::vector<rank_t> const& hosts, fetched how) {
  units const unit(s);
  auto const volumes = volumes_between(s, hosts, how, unit);
  std::vector<link_load> loads(std::ranges::max(hosts) + std::size_t{1});
  for (auto const& [pair, volume] : volumes) {
    loads[pair.first].out += fraction(volume, unit.denominator);
    loads[pair.second].in += fraction(volume, unit.denominator);
  }
  return loads;
}

std::vector<link_load> edge_traffic(schedule const& s, std::vector<rank_t> const& hosts, tree const& switches,
                                    fetched how) {
  units const unit(s);
  auto const volumes = volumes_between(s, hosts, how, unit);
  if (rank_t const last = std::ranges::max(hosts); last >= switches.ranks)
    throw schedule_error("the tree has " + std::to_string(switches.ranks) + " hosts and no host " +
                         std::to_string(last));
  std::vector<link_load> loads(switches.nodes.size());
  for (auto const& [pair, volume] : volumes)
    for (auto const& [node, up] : route(switches, switches.leaf_of(pair.first), switches.leaf_of(pair.second)))
      (up ? loads[node].out : loads[node].in) += fraction(volume, unit.denominator);
  return loads;
}

std::vector<directed_edge> route(tree const& of, std::size_t from, std::size_t to) {
  std::vector<directed_edge> edges;
  while (from != to) {
    bool const up = of.nodes[from].depth >= of.nodes[to].depth;
    std::size_t& lower = up ? from : to;
    edges.push_back({lower, up});
    lower = of.nodes[lower].parent;
  }
  return edges;
}

std::size_t busiest_edge(schedule const& made, tree const& of) {
  if (of.ranks < made.ranks)
    throw schedule_error("the tree has " + std::to_string(of.ranks) + " ranks, the schedule " +
                         std::to_string(made.ranks));
  std::size_t busiest = 0;
  for (auto const& step : made.steps) {
    std::set<std::pair<rank_t, rank_t>> messages;
    for (assignment const& a : step)
      for (source const& s : made.from(a))
        if (s.rank != a.rank) messages.emplace(s.rank, a.rank);
    std::map<directed_edge, std::size_t> load;
    for (auto const& [from, to] : messages)
      for (directed_edge const& edge : route(of, of.leaf_of(from), of.leaf_of(to)))
        busiest = std::max(busiest, ++load[edge]);
  }
  return busiest;
}

}  // namespace coset::schedule
