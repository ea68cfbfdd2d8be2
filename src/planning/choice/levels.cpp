// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/levels.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "planning/schedule/registry/permutation.hpp"

namespace coset::choice {
namespace {

constexpr calibration::memory_costs usual;

/// latency + 3 per_peer of one L3 is a flag round of 4 ranks there, 0.16 µs measured on Zen 4; how much of that a peer takes
/// is from simulated caches. Beyond an L3 rounds are in proportion to one-way line latencies, and a peer takes a fifth of them.
/// per_byte is one core's share while its neighbours read as well: measured within an L3 and from the node's memory, which
/// stands for other L3s; a rule of thumb beyond. So is what a group's link takes. Lines are fetched by each reader, at no cost
/// of whom they are from.
constexpr std::array kinds{
    level_kind{"core", &processor::core, 84e-9, 3.3e-9, 0.02e-9, 0, 0},
    level_kind{"l3", &processor::l3, usual.round, usual.peer, usual.fetched, 0, 0},
    level_kind{"node", &processor::node, 300e-9, 60e-9, 0.07e-9, 0.018e-9, 0},
    level_kind{"package", &processor::package, 400e-9, 80e-9, 0.1e-9, 0.012e-9, 0},
    level_kind{"machine", nullptr, 700e-9, 140e-9, 0.2e-9, 0.01e-9, 0},
};
constexpr std::size_t kind_of_l3 = 1, kind_of_node = 2, kind_of_machine = 4;

/// Two ranks of an L3, which look at one flag each: 0.09 µs on Zen 4, 0.055 on Zen 5, 0.12 on Sapphire Rapids.
constexpr level_kind l3_of_two{"l3", &processor::l3, 90e-9 - usual.peer, usual.peer, usual.fetched, 0, 0};

/// That of a level which joins all of so many ranks.
level_kind const& kind_of_all(std::size_t kind, std::size_t ranks) {
  return kind == kind_of_l3 && ranks == 2 ? l3_of_two : kinds[kind];
}

unsigned domain_of(processor const& p, level_kind const& kind) { return kind.domain == nullptr ? 0 : p.*kind.domain; }

bool joins_all(level_kind const& kind, std::vector<processor> const& places) {
  return std::ranges::all_of(places,
                             [&](processor const& p) { return domain_of(p, kind) == domain_of(places.front(), kind); });
}

/// Then what joins the ranks of a node is an L3.
bool has_one_l3_a_node(std::vector<processor> const& places) {
  std::set<unsigned> nodes;
  std::set<std::pair<unsigned, unsigned>> l3s;
  for (processor const& p : places) {
    nodes.insert(p.node);
    l3s.insert({p.node, p.l3});
  }
  return l3s.size() == nodes.size();
}

/// Collects levels from inside out.
class levels_in_making {
 public:
  void add(std::vector<unsigned> domains, rank_t group, level_kind const& kind) {
    domains_.push_back(std::move(domains));
    costs_.links.push_back({group, kind.latency, kind.per_byte, kind.per_peer, kind.shared, kind.fan_out});
  }

  schedule::level_machine made() && {
    costs_.combine_per_byte = fold_per_byte;
    costs_.peers_per_latency = UINT32_MAX;  // one look at all flags
    costs_.per_stream_beyond = per_stream_beyond;
    return {schedule::rank_levels(domains_), std::move(costs_)};
  }

 private:
  std::vector<std::vector<unsigned>> domains_;
  schedule::cost_model costs_;
};

}  // namespace

std::span<level_kind const> level_kinds() { return kinds; }

schedule::link link_of_l3(rank_t ranks) {
  level_kind const& l3 = kind_of_all(kind_of_l3, ranks);
  return {UINT32_MAX, l3.latency, l3.per_byte, l3.per_peer, l3.shared, l3.fan_out};
}

schedule::level_machine levels_of(std::vector<processor> const& places) {
  std::vector<std::vector<unsigned>> domains(kinds.size());
  for (std::size_t k = kind_of_l3; k < kinds.size(); ++k)
    for (processor const& p : places) domains[k].push_back(domain_of(p, kinds[k]));
  schedule::rank_levels const all(std::vector(domains.begin() + kind_of_l3, domains.end()));
  levels_in_making making;
  rank_t inner = 1;
  std::size_t after = kind_of_l3;  // prices grow from inside out
  for (std::size_t k = kind_of_l3; k < kind_of_machine; ++k) {
    rank_t const group = all.even_group(k - kind_of_l3);
    bool const is_level = group > inner && group < places.size();
    bool const is_uneven = k == kind_of_node && group == 0 && all.sizes(k - kind_of_l3).size() > 1;
    if (!is_level && !is_uneven) continue;
    bool const is_l3 = is_uneven && has_one_l3_a_node(places);
    making.add(domains[k], is_level ? inner = group : inner, kinds[is_l3 ? kind_of_l3 : k]);
    after = k + 1;
  }
  while (!joins_all(kinds[after], places)) ++after;
  making.add(std::move(domains[kind_of_machine]), UINT32_MAX, kind_of_all(after, places.size()));
  return std::move(making).made();
}

schedule::level_machine usual_levels(rank_t ranks, std::vector<std::vector<rank_t>> const& sizes) {
  levels_in_making making;
  std::size_t kind = kind_of_l3;
  rank_t inner = 1;
  for (auto const& level : sizes) {
    bool const is_even = std::ranges::adjacent_find(level, std::ranges::not_equal_to()) == level.end();
    std::vector<unsigned> domains;
    for (unsigned d = 0; d < level.size(); ++d) domains.insert(domains.end(), level[d], d);
    making.add(std::move(domains), is_even ? inner = level.front() : inner, kinds[kind]);
    kind = std::min(kind + 1, kind_of_machine);
  }
  making.add(std::vector<unsigned>(ranks), UINT32_MAX, kind_of_all(kind, ranks));
  return std::move(making).made();
}

level_facts level_facts_of(std::vector<processor> const& places) {
  if (places.empty()) return {};
  level_facts facts{std::make_shared<schedule::level_machine const>(levels_of(places)), nullptr, {}};
  std::vector<rank_t> order, group_of(places.size());
  for (auto const key : {&processor::l3, &processor::node, &processor::package}) {
    for (std::size_t r = 0; r < places.size(); ++r) group_of[r] = places[r].*key;
    order = schedule::neighbours(order, group_of);
  }
  if (std::ranges::is_sorted(order)) return facts;
  auto moved = places;
  for (std::size_t k = 0; k < moved.size(); ++k) moved[k] = places[order[k]];
  auto found = levels_of(moved);
  if (found.levels() < 2) return facts;
  facts.scattered = std::make_shared<schedule::level_machine const>(std::move(found));
  facts.order = std::move(order);
  return facts;
}

}  // namespace coset::choice
