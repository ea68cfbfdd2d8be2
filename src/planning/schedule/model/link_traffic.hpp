// SPDX-License-Identifier: Apache-2.0
// What a schedule sends over the links of hosts and switches, as exact volumes.
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

}  // namespace coset::schedule
