// SPDX-License-Identifier: Apache-2.0
// Reduce to leaders, allreduce among them, broadcast: three sets of mapped schedules.
#include "planning/schedule/composed/leaders.hpp"

#include "planning/schedule/composed/nodes.hpp"

namespace coset::schedule {

schedule leaders(std::vector<rank_t> const& nodes, algorithm const& between) {
  auto const members = members_of(nodes);
  algorithm const tree{"binomial", {}};
  mapped among{make(between, static_cast<rank_t>(nodes.size())), {}, {}};
  for (auto const& node : members) among.members.push_back(node.front());

  std::vector<fraction> cuts;
  append_cuts(among, cuts);
  assembly building(members.back().back() + 1, cuts);
  building.run(in_every_node(members, tree, verb::reduce));
  building.run(std::span(&among, 1));
  building.run(in_every_node(members, tree, verb::broadcast));
  auto made = std::move(building).finish();
  made.idempotent_only = among.inner.idempotent_only;
  return made;
}

}  // namespace coset::schedule
