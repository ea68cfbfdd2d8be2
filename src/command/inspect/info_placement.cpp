// SPDX-License-Identifier: Apache-2.0
// Ranks on a machine for people and programs.
#include "command/inspect/info_placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <coset/team.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "numa/affinity.hpp"
#include "numa/binding.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

enum level : std::size_t { package, node, l3, core };
struct level_name {
  char const *one, *many;
};
constexpr std::array level_names{level_name{"package", "packages"}, level_name{"node", "nodes"},
                                 level_name{"L3", "L3s"}, level_name{"core", "cores"}};

/// A package, node, L3 or core, with all ranks inside. Two look alike if their cores have equally many ranks.
struct branch {
  unsigned number = 0;
  std::vector<rank_t> ranks = {};
  std::vector<branch> inside = {};

  bool looks_like(branch const& other) const {
    if (inside.empty() && ranks.size() != other.ranks.size()) return false;
    return std::equal(inside.begin(), inside.end(), other.inside.begin(), other.inside.end(),
                      [](branch const& a, branch const& b) { return a.looks_like(b); });
  }
};

/// The levels that the machine reports: not all have L3 caches.
std::vector<level> levels_of(topology const& machine) {
  return machine.has_l3 ? std::vector{package, node, l3, core} : std::vector{package, node, core};
}

unsigned number_of(topology const& machine, processor const& p, level at) {
  switch (at) {
    case package:
      return p.package;
    case node:
      return machine.nodes.at(p.node).os_index;
    case l3:
      return p.l3;
    case core:
      return p.core;
  }
  __builtin_unreachable();
}

/// The branch with a number, made if there is none.
branch& below(std::vector<branch>& branches, unsigned number) {
  auto const at = std::ranges::find(branches, number, &branch::number);
  return at != branches.end() ? *at : branches.emplace_back(branch{number});
}

std::vector<branch> tree_of(topology const& machine, std::vector<processor> const& places) {
  std::map<unsigned, std::vector<rank_t>> on;
  for (rank_t r = 0; r < places.size(); ++r) on[places[r].os_index].push_back(r);
  std::vector<branch> tree;
  auto const levels = levels_of(machine);
  for (processor const& p : machine.processors) {
    auto* branches = &tree;
    for (level const each : levels) {
      branch& at = below(*branches, number_of(machine, p, each));
      at.ranks.insert(at.ranks.end(), on[p.os_index].begin(), on[p.os_index].end());
      branches = &at.inside;
    }
  }
  return tree;
}

/// "0-3 8", "0-6 by 2", each number once.
std::string runs(std::vector<unsigned> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
    last = first;
    unsigned const stride = first + 1 < numbers.size() ? numbers[first + 1] - numbers[first] : 0;
    while (last + 1 < numbers.size() && numbers[last + 1] - numbers[last] == stride) ++last;
    if (last - first < 2 && stride > 1) last = first;  // two numbers are no pattern
    text += fmt::format("{}{}", text.empty() ? "" : " ", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    if (last > first && stride > 1) text += fmt::format(" by {}", stride);
  }
  return text;
}

std::string ranks_text(std::vector<branch const*> const& alike, bool leaves) {
  std::vector<unsigned> ranks;
  for (branch const* b : alike) ranks.insert(ranks.end(), b->ranks.begin(), b->ranks.end());
  if (ranks.empty()) return "no ranks";
  auto const text = fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", runs(ranks));
  std::size_t const each = alike.front()->ranks.size();
  return leaves && each > 1 ? fmt::format("{}, {} share {}", text, each, alike.size() > 1 ? "each" : "it") : text;
}

/// Draws one line for branches that look alike, possibly of several parents, then the lines of what is inside. Several
/// branches can have the same number: a node that spans packages is in each of them.
void draw(std::vector<branch const*> const& alike, std::size_t parents, std::span<level const> levels,
          std::size_t depth, std::string& text) {
  std::vector<unsigned> numbers;
  for (branch const* b : alike) numbers.push_back(b->number);
  bool const one = std::ranges::all_of(numbers, [&](unsigned n) { return n == numbers.front(); });
  std::string const indent(2 * depth, ' ');
  std::string const each = parents > 1 && !one ? fmt::format(", {} in each", alike.size() / parents) : "";
  auto const& name = level_names[levels.front()];
  text += fmt::format("{}{} {}{}: {}\n", indent, one ? name.one : name.many, runs(numbers), each,
                      ranks_text(alike, levels.front() == core));
  auto const& first = alike.front()->inside;
  for (std::size_t begin = 0, end = 0; begin < first.size(); begin = end) {
    while (end < first.size() && first[end].looks_like(first[begin])) ++end;
    std::vector<branch const*> next;
    for (branch const* b : alike)
      for (std::size_t i = begin; i < end; ++i) next.push_back(&b->inside[i]);
    draw(next, alike.size(), levels.subspan(1), depth + 1, text);
  }
}

char const* key_of(level at, bool many) {
  if (at == l3) return many ? "l3s" : "l3";
  return many ? level_names[at].many : level_names[at].one;
}

ordered_json json_of(std::vector<branch> const& branches, std::span<level const> levels) {
  ordered_json list = ordered_json::array();
  for (branch const& b : branches) {
    ordered_json one{{key_of(levels[0], false), b.number}, {"ranks", b.ranks}};
    if (levels.size() > 1) one[key_of(levels[1], true)] = json_of(b.inside, levels.subspan(1));
    list.push_back(std::move(one));
  }
  return list;
}

/// The first few of possibly many.
std::string few(std::vector<std::string> const& all) {
  constexpr std::size_t most = 4;
  auto const shown = std::min(all.size(), most);
  auto const text = fmt::format("{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
  return all.size() > most ? fmt::format("{}; and {} more", text, all.size() - most) : text;
}

std::vector<std::string> shared_cores(std::vector<processor> const& places) {
  std::map<unsigned, std::vector<unsigned>> on;
  for (rank_t r = 0; r < places.size(); ++r) on[places[r].core].push_back(r);
  std::vector<std::string> shared;
  for (auto const& [number, ranks] : on)
    if (ranks.size() > 1) shared.push_back(fmt::format("ranks {} on core {}", runs(ranks), number));
  return shared;
}

}  // namespace

std::string placement_tree(topology const& machine, std::vector<processor> const& places) {
  auto const tree = tree_of(machine, places);
  auto const levels = levels_of(machine);
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < tree.size(); begin = end) {
    std::vector<branch const*> alike;
    for (; end < tree.size() && tree[end].looks_like(tree[begin]); ++end) alike.push_back(&tree[end]);
    draw(alike, 1, levels, 0, text);
  }
  return text;
}

ordered_json l3_json(topology const& machine, processor const& p) {
  return machine.has_l3 ? ordered_json(p.l3) : ordered_json(nullptr);
}

ordered_json placement_json(topology const& machine, std::vector<processor> const& places) {
  ordered_json ranks = ordered_json::array();
  for (rank_t r = 0; r < places.size(); ++r) {
    auto const& p = places[r];
    ranks.push_back({{"rank", r},
                     {"processor", p.os_index},
                     {"core", p.core},
                     {"l3", l3_json(machine, p)},
                     {"node", machine.nodes.at(p.node).os_index},
                     {"package", p.package},
                     {"kind", p.kind}});
  }
  return {{"placement", ranks}, {"tree", json_of(tree_of(machine, places), levels_of(machine))}};
}

table placement_table(topology const& machine, std::vector<processor> const& places) {
  auto made = table().with(as::numbers, {"rank", "processor", "core"});
  if (machine.has_l3) made.with(as::numbers, {"L3=l3"});
  made.with(as::numbers, {"node", "package", "kind"});
  auto json = placement_json(machine, places);
  for (auto& each : json["placement"]) made.add(std::move(each));
  return made;
}

std::vector<std::string> placement_warnings(std::vector<processor> const& places, placement_findings const& found) {
  std::vector<std::string> warnings;
  if (auto const confined = numa::affinity_of_process().warning; !confined.empty()) warnings.push_back(confined);
  if (auto const shared = shared_cores(places); !shared.empty())
    warnings.push_back(fmt::format("ranks share cores, so each is slower than alone: {}", few(shared)));
  if (found.usable < places.size())
    warnings.push_back(
        fmt::format("the processor mask and the quota of this process let only {} of {} ranks run at a time",
                    found.usable, places.size()));
  if (!found.pinned) {
    warnings.emplace_back("ranks are not pinned: the kernel may move them at any time");
    return warnings;
  }
  std::vector<std::string> moved;
  for (rank_t r = 0; r < found.seen.size(); ++r)
    if (found.seen[r] != places[r].os_index)
      moved.push_back(fmt::format("rank {} on processor {} instead of {}", r, found.seen[r], places[r].os_index));
  if (!moved.empty()) warnings.push_back(fmt::format("the kernel has moved threads that were pinned: {}", few(moved)));
  return warnings;
}

std::vector<unsigned> processors_seen(topology const& machine, std::vector<processor> const& places, placement how) {
  using clock = std::chrono::steady_clock;
  team_options options{.ranks = static_cast<rank_t>(places.size()), .place = how};
  // By processor if possible: a profile may put compact ranks in another order.
  if (places.size() <= machine.processors.size())
    for (processor const& p : places) options.processors.push_back(p.os_index);
  team ranks(machine, options);
  std::vector<unsigned> seen(places.size());
  ranks.run([&](member& me) {
    unsigned const own = places[me.rank()].os_index;
    unsigned& mine = seen[me.rank()] = own;
    auto const end = clock::now() + std::chrono::milliseconds(5);
    while (mine == own && clock::now() < end) mine = numa::current_processor();
  });
  return seen;
}

}  // namespace coset::cli
