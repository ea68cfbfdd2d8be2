// SPDX-License-Identifier: Apache-2.0
// FlexReduce: first the portions of all levels, then the schedule that their boundaries cut.
#include "planning/schedule/algorithms/flexreduce.hpp"

#include <algorithm>
#include <tuple>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {
namespace {

// Part of a level's work: `owner` folds the values that `holders`, one per child, have of `where`.
struct reduction {
  rank_t owner;
  piece where;
  std::vector<rank_t> holders;
};

class levels {
 public:
  explicit levels(tree const& of) : tree_(of), portion_(of.ranks) {
    std::size_t deepest = 0;
    for (tree_node const& node : of.nodes) deepest = std::max(deepest, node.depth);
    for (std::size_t depth = deepest + 1; depth-- > 0;) {
      work_.emplace_back();
      for (std::size_t n = 0; n < of.nodes.size(); ++n)
        if (of.nodes[n].depth == depth && !of.nodes[n].rank) share_out(n);
    }
  }

  std::vector<std::vector<reduction>> const& work() const { return work_; }

 private:
  // The portions below `node` before it tile the vector once per child, those after it once.
  void share_out(std::size_t node) {
    auto ranks = leaves_below(tree_, node);
    std::ranges::sort(ranks, {}, [&](rank_t r) { return std::tuple(portion_[r].high, portion_[r].low, r); });
    auto const before = portion_;
    fraction const share(1, static_cast<std::int64_t>(tree_.nodes[node].children.size()));
    fraction next = 0;
    for (rank_t const r : ranks) {
      fraction const end = next + (before[r].high - before[r].low) * share;
      portion_[r] = {next, end};
      next = end;
    }
    for (rank_t const r : ranks) emit(node, r, before, ranks);
  }

  // Cuts a new portion wherever an old one ends, so that each piece has one holder per child.
  void emit(std::size_t node, rank_t owner, std::vector<piece> const& before, std::vector<rank_t> const& ranks) {
    auto const [low, high] = portion_[owner];
    std::vector<fraction> cuts{low, high};
    for (rank_t const r : ranks)
      if (before[r].high > low && before[r].high < high) cuts.push_back(before[r].high);
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      reduction part{owner, {cuts[c], cuts[c + 1]}, {}};
      for (std::size_t const child : tree_.nodes[node].children)
        for (rank_t const r : leaves_below(tree_, child))
          if (before[r].low <= cuts[c] && before[r].high > cuts[c]) part.holders.push_back(r);
      work_.back().push_back(std::move(part));
    }
  }

  tree const& tree_;
  std::vector<piece> portion_;  // of each rank
  std::vector<std::vector<reduction>> work_;
};

}  // namespace

schedule flexreduce(tree const& of) {
  require_room(of.ranks, of.ranks);  // each rank owns a portion at least, and sharing them out takes as long
  levels const all(of);
  std::vector<fraction> cuts;
  for (auto const& level : all.work())
    for (reduction const& part : level) cuts.push_back(part.where.low);
  assembly building(of.ranks, cuts);
  for (auto const& level : all.work()) {
    for (auto const& [owner, where, holders] : level) building.fold(owner, where, holders);
    building.end_step();
  }
  building.mirror();
  return std::move(building).finish();
}

}  // namespace coset::schedule
