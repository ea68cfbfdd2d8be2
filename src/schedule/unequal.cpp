// SPDX-License-Identifier: Apache-2.0
// Unequal nodes: three sets of placed schedules, the middle one cut where any node's portions end.
#include "schedule/unequal.hpp"

#include <algorithm>

#include "schedule/nodes.hpp"

namespace coset::schedule {
namespace {

// The pieces between neighbouring portion ends of all nodes.
std::vector<piece> pieces(std::vector<rank_t> const& nodes) {
  std::vector<fraction> cuts{1};
  for (std::int64_t const size : nodes)
    for (std::int64_t i = 0; i < size; ++i) cuts.emplace_back(i, size);
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<piece> found;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) found.push_back({cuts[c], cuts[c + 1]});
  return found;
}

// The rank whose portion [i/c, (i+1)/c) of its node contains `where`.
rank_t holder(std::vector<rank_t> const& node, piece where) {
  return node[static_cast<std::size_t>((where.low * static_cast<std::int64_t>(node.size())).floor())];
}

}  // namespace

schedule unequal(std::vector<rank_t> const& nodes, rank_t radix, rank_t saved_steps) {
  auto const members = members_of(nodes);
  algorithm fold{"generalized", {{"radix", std::to_string(radix)}, {"saved_steps", std::to_string(saved_steps)}}};
  schedule const between_nodes = make(fold, static_cast<rank_t>(nodes.size()));
  fold.parameters.erase("saved_steps");

  std::vector<placed> between;
  std::vector<fraction> cuts;
  for (piece const where : pieces(nodes)) {
    auto& part = between.emplace_back(placed{between_nodes, {}, where});
    for (auto const& node : members) part.members.push_back(holder(node, where));
    append_cuts(part, cuts);
  }
  assembly plan(members.back().back() + 1, cuts);
  plan.run(in_every_node(members, fold, collective::reduce_scatter));
  plan.run(between);
  plan.run(in_every_node(members, fold, collective::allgather));
  return std::move(plan).finish(collective::allreduce, 0);
}

}  // namespace coset::schedule
