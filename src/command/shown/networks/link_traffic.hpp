// SPDX-License-Identifier: Apache-2.0
// What a schedule sends over the links of hosts and switches: exact volumes, and messages at once.
#pragma once

#include "planning/schedule/model/tree.hpp"

namespace coset::schedule {

/// What crosses a link in all steps, in vectors of m: `out` from the host, or the hosts below a switch; `in` to them.
struct link_load {
  fraction out, in;
  friend bool operator==(link_load const&, link_load const&) = default;
};

/// How a value travels that several ranks of one host read in the same step.
enum class fetched : std::uint8_t {
  by_each_rank,  ///< as often as there are such ranks, as validate() counts
  once_per_host  ///< once, and is shared there
};

/// [host]: the volume on the host's link. hosts[r] is the host of rank r, numbered from 0; reads within a host cross no
/// link. The schedule must have passed validate(). Throws schedule_error if `hosts` has another number of ranks.
/// Cost: that of sorting each step's reads between hosts.
std::vector<link_load> host_traffic(schedule const&, std::vector<rank_t> const& hosts, fetched = fetched::by_each_rank);

/// [node of a tree whose leaves are the hosts]: the volume on the edge to its parent, nothing for the root. A value for
/// several hosts leaves its own host as many times. Throws schedule_error also if a host is no leaf of the tree.
std::vector<link_load> edge_traffic(schedule const&, std::vector<rank_t> const& hosts, tree const& switches,
                                    fetched = fetched::by_each_rank);

/// An edge, named by its lower end; `up` is the direction towards the root.
struct directed_edge {
  std::size_t node;
  bool up;
  friend auto operator<=>(directed_edge const&, directed_edge const&) = default;
};

/// The edges of the path between two nodes, in no particular order.
std::vector<directed_edge> route(tree const& of, std::size_t from, std::size_t to);

/// The largest number of messages that cross one edge in one direction in one step; a message is all that one rank reads
/// from another in the step. 1: no contention. Throws schedule_error if the tree has fewer ranks.
std::size_t busiest_edge(schedule const& made, tree const& of);

}  // namespace coset::schedule
