// SPDX-License-Identifier: Apache-2.0
// Networks of shared links: hosts, switches, routers or NUMA nodes, what joins them, and the ways that messages take.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "planning/schedule/model/machine.hpp"
#include "planning/schedule/model/tree.hpp"

namespace coset::schedule {

using place_t = std::uint32_t;

/// Seconds for a message, and for a byte of all messages that cross at a time.
struct link_costs {
  double latency = 0, per_byte = 0;
};

/// A link in one direction: whatever crosses it in one step shares it.
struct shared_link {
  std::string name;  ///< "left -> top"
  place_t to;
  link_costs costs;
};

/// Places joined by links, and ranks, each with a link of its own to the place that it is at.
class network {
 public:
  place_t add_place(std::string name);
  /// One direction. The order in which the links of a place are added decides between ways of equal length.
  void add_link(place_t from, place_t to, link_costs);
  /// Both directions.
  void join(place_t a, place_t b, link_costs);
  /// The next rank. Its link has both directions, too.
  void add_rank(place_t at, link_costs);

  rank_t ranks() const noexcept { return static_cast<rank_t>(at_.size()); }
  std::size_t places() const noexcept { return names_.size(); }
  std::string const& name_of(place_t place) const { return names_[place]; }
  std::vector<shared_link> const& links() const noexcept { return links_; }
  std::vector<link_t> const& links_from(place_t place) const { return from_[place]; }

  place_t place_of(rank_t rank) const { return at_[rank]; }
  link_t link_out_of(rank_t rank) const { return out_of_[rank]; }
  link_t link_into(rank_t rank) const { return out_of_[rank] + 1; }

  /// The number of ranks at each place if those of a place are consecutive, of the first `ranks`; else empty.
  std::vector<rank_t> ranks_by_place(rank_t ranks) const;
  /// The same network with the first rank of each place, in their order: what hosts are to each other.
  network with_one_rank_a_place() const;

 private:
  std::vector<std::string> names_;         // [place]
  std::vector<std::vector<link_t>> from_;  // [place]
  std::vector<shared_link> links_;
  std::vector<place_t> at_;     // [rank]
  std::vector<link_t> out_of_;  // [rank]; the way in comes next
};

/// What ranks pay apart from links: seconds for each message that a rank gets in a step, or that whom it is from sends, if
/// those are more; and per byte that it combines.
struct rank_costs {
  double per_message = 0, combine_per_byte = 0;
};

/// The ways between ranks, found when they are first asked for. A message takes a shortest
/// way: from each place the first link that leads nearer to its end, so on a torus one dimension after the other.
class routes final : public machine {
 public:
  /// Throws schedule_error if there are more than most_places.
  explicit routes(network of, rank_costs const& = {});
  static constexpr std::size_t most_places = 1 << 13;  ///< ways between all of them take 256 MiB

  network const& between() const { return of_; }

  /// Appends the links from one rank to another to `way`. Throws schedule_error if there is no way.
  void append(rank_t from, rank_t to, std::vector<link_t>& way) const;

  rank_t ranks() const override { return of_.ranks(); }
  link_t links() const override { return static_cast<link_t>(of_.links().size()); }
  std::string name_of(link_t one) const override { return of_.links()[one].name; }
  void find(rank_t to, rank_t from, way& found) const override;

 private:
  std::vector<link_t> const& towards(place_t end) const;

  network of_;
  double per_message_;
  std::vector<std::vector<place_t>> into_;            // [place]: where links into it begin
  mutable std::vector<std::vector<link_t>> towards_;  // [end][place]: the link to take
  mutable std::vector<link_t> found_;
};

/// A switch for each inner node of the tree; costs[node] are those of its edge to its parent, in both directions.
network network_of(tree const&, std::vector<link_costs> const& costs);

/// Nodes of so many consecutive ranks, each joined to one switch that is never busy.
network network_of_nodes(std::vector<rank_t> const& nodes, link_costs of_node, link_costs of_rank);

/// What links of a regular network cost, and how many ranks are at each host.
struct regular_links {
  link_costs rank = {}, link = {}, global = {};  ///< `global` joins the groups of a dragonfly, `link` all other places
  rank_t ranks_per_host = 1;
};

/// Hosts in a grid of these dimensions, the last of which changes first; as a torus each row is a ring.
network grid_network(std::vector<rank_t> const& dimensions, bool torus, regular_links const&);

/// Groups of routers, each router with hosts of its own: all routers of a group are joined, and each pair of groups by one
/// link, whose ends the routers of a group take in turn, as many as they have to.
struct dragonfly {
  rank_t groups, routers, hosts;
};
network dragonfly_network(dragonfly const&, regular_links const&);

/// A network and, where the file has one, its tree.
struct network_file {
  network links;
  std::optional<tree> switches;
};

/// Reads a tree file, or one of
///
///     {"torus": [4, 4], "ranks_per_host": 2, "rank": {"bandwidth": 1e10}, "link": {"bandwidth": 1e9, "latency": 1e-6}}
///     {"mesh": [4, 4]}
///     {"dragonfly": {"groups": 9, "routers": 4, "hosts": 2}, "global": {"bandwidth": 5e9}}
///     {"graph": [["a", "b"], ["b", "c", {"bandwidth": 1e9}]], "ranks": ["a", "a", "b", "c"]}
///
/// Bandwidths are bytes per second, latencies seconds. "rank" is the link of each rank, "link" any other; in a tree file
/// "links": {"left": {…}} has those of single nodes, or ranks, to their parents. What is not given is taken of `usual`.
/// `origin` names the text in messages. Throws schedule_error for anything else.
network_file parse_network(std::istream& text, std::string const& origin, link_costs usual);
network_file read_network(std::string const& path, link_costs usual);

}  // namespace coset::schedule
