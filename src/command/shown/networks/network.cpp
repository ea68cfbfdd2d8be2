// SPDX-License-Identifier: Apache-2.0
// Graphs of places, made from trees, nodes, grids and groups.
#include "command/shown/networks/network.hpp"

#include <algorithm>

namespace coset::schedule {

place_t network::add_place(std::string name) {
  names_.push_back(std::move(name));
  from_.emplace_back();
  return static_cast<place_t>(names_.size() - 1);
}

void network::add_link(place_t from, place_t to, link_costs costs) {
  from_[from].push_back(static_cast<link_t>(links_.size()));
  links_.push_back({names_[from] + " -> " + names_[to], to, costs});
}

void network::join(place_t a, place_t b, link_costs costs) {
  add_link(a, b, costs);
  add_link(b, a, costs);
}

void network::add_rank(place_t at, link_costs costs) {
  std::string const rank = "rank " + std::to_string(at_.size());
  out_of_.push_back(static_cast<link_t>(links_.size()));
  at_.push_back(at);
  links_.push_back({rank + " -> " + names_[at], at, costs});
  links_.push_back({names_[at] + " -> " + rank, at, costs});
}

std::vector<rank_t> network::ranks_by_place(rank_t ranks) const {
  std::vector<rank_t> sizes;
  std::vector<bool> seen(places());
  for (rank_t r = 0; r < ranks; ++r) {
    bool const next = r == 0 || at_[r] != at_[r - 1];
    if (next && seen[at_[r]]) return {};
    if (next) sizes.push_back(0);
    seen[at_[r]] = true;
    ++sizes.back();
  }
  return sizes;
}

network network::with_one_rank_a_place() const {
  network made = *this;
  made.at_.clear();
  made.out_of_.clear();
  std::vector<bool> seen(places());
  for (rank_t r = 0; r < ranks(); ++r)
    if (!seen[at_[r]]) {
      seen[at_[r]] = true;
      made.at_.push_back(at_[r]);
      made.out_of_.push_back(out_of_[r]);
    }
  return made;
}

namespace {

constexpr link_t no_link = UINT32_MAX;

/// One latency for each way, and all that a message costs a rank besides for each of them.
cost_model model_of(rank_costs const& costs) {
  cost_model model;
  model.combine_per_byte = costs.combine_per_byte;
  model.peers_per_latency = UINT32_MAX;
  return model;
}

}  // namespace

routes::routes(network of, rank_costs const& costs)
    : machine(model_of(costs)),
      of_(std::move(of)),
      per_message_(costs.per_message),
      into_(of_.places()),
      towards_(of_.places()) {
  if (of_.places() > most_places)
    throw schedule_error("the network has " + std::to_string(of_.places()) +
                         " places; ways are found between at most " + std::to_string(most_places));
  for (place_t p = 0; p < of_.places(); ++p)
    for (link_t const l : of_.links_from(p)) into_[of_.links()[l].to].push_back(p);
}

std::vector<link_t> const& routes::towards(place_t end) const {
  auto& next = towards_[end];
  if (!next.empty()) return next;
  next.assign(of_.places(), no_link);
  constexpr std::uint32_t far = UINT32_MAX;
  std::vector<std::uint32_t> distance(of_.places(), far);
  std::vector<place_t> found{end};
  distance[end] = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (place_t const p : into_[found[i]])
      if (distance[p] == far) {
        distance[p] = distance[found[i]] + 1;
        found.push_back(p);
      }
  for (place_t const p : found)
    for (link_t const l : of_.links_from(p))
      if (next[p] == no_link && distance[of_.links()[l].to] + 1 == distance[p]) next[p] = l;
  return next;
}

void routes::append(rank_t from, rank_t to, std::vector<link_t>& way) const {
  place_t const end = of_.place_of(to);
  auto const& next = towards(end);
  way.push_back(of_.link_out_of(from));
  for (place_t at = of_.place_of(from); at != end; at = of_.links()[way.back()].to) {
    if (next[at] == no_link)
      throw schedule_error("no links lead from rank " + std::to_string(from) + " to rank " + std::to_string(to));
    way.push_back(next[at]);
  }
  way.push_back(of_.link_into(to));
}

void routes::find(rank_t to, rank_t from, way& found) const {
  found_.clear();
  append(from, to, found_);
  found = {.per_message = per_message_, .uses = std::move(found.uses)};
  found.uses.clear();
  for (link_t const l : found_) {
    link_costs const& costs = of_.links()[l].costs;
    found.latency += costs.latency;
    found.uses.push_back({l, costs.per_byte});
  }
}

network network_of(tree const& of, std::vector<link_costs> const& costs) {
  network made;
  std::vector<place_t> place(of.nodes.size());
  std::vector<std::size_t> leaves(of.ranks);
  for (std::size_t n = 0; n < of.nodes.size(); ++n) {
    if (of.nodes[n].rank) {
      leaves[*of.nodes[n].rank] = n;
      continue;
    }
    place[n] = made.add_place(of.nodes[n].name);
    if (n > 0) made.join(place[n], place[of.nodes[n].parent], costs[n]);
  }
  for (std::size_t const n : leaves) made.add_rank(place[of.nodes[n].parent], costs[n]);
  return made;
}

network network_of_nodes(std::vector<rank_t> const& nodes, link_costs of_node, link_costs of_rank) {
  network made;
  place_t const centre = made.add_place("switch");
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    place_t const node = made.add_place("node " + std::to_string(n));
    made.join(node, centre, of_node);
    for (rank_t r = 0; r < nodes[n]; ++r) made.add_rank(node, of_rank);
  }
  return made;
}

namespace {

/// All points of a grid, in the order of their places.
std::vector<std::vector<rank_t>> points_of(std::vector<rank_t> const& dimensions) {
  std::vector<std::vector<rank_t>> points{{}};
  for (rank_t const size : dimensions) {
    std::vector<std::vector<rank_t>> longer;
    for (auto const& point : points)
      for (rank_t c = 0; c < size; ++c) {
        longer.push_back(point);
        longer.back().push_back(c);
      }
    points = std::move(longer);
  }
  return points;
}

std::string name_of(std::vector<rank_t> const& point) {
  std::string name;
  for (rank_t const c : point) name += (name.empty() ? "(" : ",") + std::to_string(c);
  return name + ")";
}

place_t add_host(network& to, std::string name, regular_links const& costs) {
  place_t const host = to.add_place(std::move(name));
  for (rank_t r = 0; r < costs.ranks_per_host; ++r) to.add_rank(host, costs.rank);
  return host;
}

}  // namespace

// Upwards first, so where both ways round a ring are as long. Rings of two are lines.
network grid_network(std::vector<rank_t> const& dimensions, bool torus, regular_links const& costs) {
  network made;
  auto const points = points_of(dimensions);
  for (auto const& point : points) add_host(made, name_of(point), costs);
  place_t stride = static_cast<place_t>(points.size());
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    rank_t const size = dimensions[d];
    stride /= size;
    for (bool const up : {true, false})
      for (place_t at = 0; at < points.size(); ++at) {
        rank_t const here = points[at][d], next = (here + (up ? 1 : size - 1)) % size;
        bool const around = here == (up ? size - 1 : 0);
        if (!around || (torus && size > 2)) made.add_link(at, at - here * stride + next * stride, costs.link);
      }
  }
  return made;
}

network dragonfly_network(dragonfly const& of, regular_links const& costs) {
  network made;
  auto const name = [](char const* what, rank_t number) { return what + std::to_string(number); };
  std::vector<std::vector<place_t>> routers(of.groups);
  for (rank_t g = 0; g < of.groups; ++g)
    for (rank_t r = 0; r < of.routers; ++r) {
      std::string const router = name("g", g) + name(".r", r);
      routers[g].push_back(made.add_place(router));
      for (rank_t h = 0; h < of.hosts; ++h)
        made.join(add_host(made, router + name(".h", h), costs), routers[g].back(), costs.link);
      for (rank_t other = 0; other < r; ++other) made.join(routers[g][other], routers[g][r], costs.link);
    }
  for (rank_t g = 1; g < of.groups; ++g)  // of a group's links to all others, this one is number h there, g − 1 here
    for (rank_t h = 0; h < g; ++h)
      made.join(routers[g][h % of.routers], routers[h][(g - 1) % of.routers], costs.global);
  return made;
}

}  // namespace coset::schedule
