// SPDX-License-Identifier: Apache-2.0
#include "command/measure/fits/hidden_levels.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/text/format.hpp"

namespace coset::calibration {
namespace {

std::string text_of(clustering const& clusters, std::vector<processor> const& places) {
  std::vector<std::string> all;
  for (auto const& cluster : clusters) {
    std::vector<unsigned> numbers;
    for (rank_t const r : cluster) numbers.push_back(places[r].os_index);
    all.push_back(text::format("{{{}}}", text::joined(numbers, ",")));
  }
  return text::joined(all, " ");
}

/// "{0,1} {2,3} in {0,1,2,3} …", the finest first.
std::string text_of(std::vector<clustering> const& levels, std::vector<processor> const& places) {
  std::vector<std::string> all;
  for (auto const& level : levels) all.push_back(text_of(level, places));
  return text::joined(all, " in ");
}

}  // namespace

std::vector<clustering> told_by(std::vector<processor> const& places) {
  std::vector<clustering> levels;
  for (auto const key : {&processor::l3, &processor::node, &processor::package}) {
    clustering clusters;
    std::map<unsigned, std::size_t> at;
    for (rank_t r = 0; r < places.size(); ++r) {
      auto const [found, is_new] = at.try_emplace(places[r].*key, clusters.size());
      if (is_new) clusters.emplace_back();
      clusters[found->second].push_back(r);
    }
    bool const says_something = clusters.size() > 1 && clusters.size() < places.size();
    if (says_something && std::ranges::find(levels, clusters) == levels.end()) levels.push_back(std::move(clusters));
  }
  return levels;
}

std::string told_and_measured(std::vector<processor> const& places, std::vector<clustering> const& measured) {
  std::set<unsigned> cores;
  for (processor const& p : places) cores.insert(p.core);
  bool const one_each = cores.size() == places.size(), several = places.size() != 1;
  std::string const what = text::format("{}{}", one_each ? "core" : "processor", several ? "s" : "");
  auto const told = told_by(places);
  return text::format("the machine says {}; measured: {}",
                      told.empty() ? text::format("{} {}{}", places.size(), several ? "equal " : "", what)
                                   : text::format("{} {} in {}", places.size(), what, text_of(told, places)),
                      measured.empty()   ? "no clusters"
                      : measured == told ? "the same"
                                         : text_of(measured, places));
}

std::vector<rank_t> consecutive(std::vector<clustering> const& levels) {
  if (levels.empty()) return {};
  std::size_t processors = 0;
  for (auto const& cluster : levels[0]) processors += cluster.size();
  std::vector<rank_t> order(processors);
  std::iota(order.begin(), order.end(), 0);
  // The finest first: stable sorts by the coarser ones keep what is inside together.
  for (auto const& level : levels) {
    auto const home = homes_of(level, processors);
    std::ranges::stable_sort(order, {}, [&](rank_t r) { return home[r]; });
  }
  return order;
}

std::vector<clustering> renumbered(std::vector<clustering> const& levels, std::vector<rank_t> const& order) {
  std::vector<rank_t> called(order.size());
  for (rank_t r = 0; r < order.size(); ++r) called[order[r]] = r;
  auto made = levels;
  for (auto& level : made) {
    for (auto& cluster : level) {
      for (rank_t& r : cluster) r = called[r];
      std::ranges::sort(cluster);
    }
    std::ranges::sort(level);
  }
  return made;
}

}  // namespace coset::calibration
