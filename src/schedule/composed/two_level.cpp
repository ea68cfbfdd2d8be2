// SPDX-License-Identifier: Apache-2.0
// Two levels: wide folds to the leaders of every host, narrow ones between leaders, and the way back.
#include "schedule/composed/two_level.hpp"

#include <algorithm>

#include "schedule/composed/nodes.hpp"

namespace coset::schedule {
namespace {

using groups = std::vector<std::vector<rank_t>>;

/// The part of leader `number` of so many.
piece part_of(std::int64_t number, std::int64_t leaders) { return {{number, leaders}, {number + 1, leaders}}; }

/// Of each host, its first ranks.
groups leaders_of(groups const& hosts, rank_t most) {
  groups leaders = hosts;
  for (auto& host : leaders)
    if (most != 0 && most < host.size()) host.resize(most);
  return leaders;
}

/// The pieces between neighbouring ends of parts of all hosts.
std::vector<piece> pieces(groups const& leaders) {
  std::vector<fraction> cuts{1};
  for (auto const& host : leaders)
    for (rank_t i = 0; i < host.size(); ++i) cuts.push_back(part_of(i, std::ssize(host)).low);
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<piece> found;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) found.push_back({cuts[c], cuts[c + 1]});
  return found;
}

/// The leader of a host whose part contains `where`.
rank_t owner(std::vector<rank_t> const& leaders, piece where) {
  return leaders[static_cast<std::size_t>((where.low * std::ssize(leaders)).floor())];
}

/// From every rank of a host to its leaders, or back: reduce_scatter or allgather where all lead, else a tree a part.
void append_inside(std::vector<rank_t> const& host, std::size_t leaders, std::string const& radix, bool back,
                   std::vector<mapped>& to) {
  auto const size = static_cast<rank_t>(host.size());
  if (leaders == size) {
    auto const verb = back ? collective::allgather : collective::reduce_scatter;
    to.push_back({make({"generalized", {{"radix", radix}}}, size, verb), host, {}});
    return;
  }
  auto const verb = back ? collective::broadcast : collective::reduce;
  for (rank_t i = 0; i < leaders; ++i)
    to.push_back(
        {make({"binomial", {{"radix", radix}}}, size, verb, i), host, part_of(i, static_cast<std::int64_t>(leaders))});
}

}  // namespace

schedule two_level(two_level_shape const& shape) {
  if (shape.inner == 1) throw schedule_error("inner = 1 folds nothing; take 2 or more, or 0 for all ranks of a host");
  auto const hosts = members_of(shape.hosts);
  auto const leaders = leaders_of(hosts, shape.leaders);
  rank_t const widest = std::max(*std::ranges::max_element(shape.hosts), rank_t{2});
  std::string const inner = std::to_string(shape.inner == 0 ? widest : shape.inner);
  schedule const between_hosts = make(shape.between, static_cast<rank_t>(hosts.size()));

  std::vector<mapped> in, between, out;
  std::vector<fraction> cuts;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    append_inside(hosts[h], leaders[h].size(), inner, false, in);
    append_inside(hosts[h], leaders[h].size(), inner, true, out);
  }
  for (piece const where : pieces(leaders)) {
    auto& part = between.emplace_back(mapped{between_hosts, {}, where});
    for (auto const& host : leaders) part.members.push_back(owner(host, where));
    append_cuts(part, cuts);
  }
  assembly building(hosts.back().back() + 1, cuts);
  building.run(in);
  building.run(between);
  building.run(out);
  auto made = std::move(building).finish(collective::allreduce, 0);
  made.idempotent_only = between_hosts.idempotent_only;
  return made;
}

}  // namespace coset::schedule
