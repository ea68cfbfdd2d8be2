// SPDX-License-Identifier: Apache-2.0
// When which block passes which edge of a tree: every edge once per period, and the edges of one rank one after the other.
#include "schedule/pipelines/tree_pipelines.hpp"

#include <algorithm>
#include <utility>

#include "schedule/pipelines/rank_trees.hpp"
#include "schedule/pipelines/read_steps.hpp"

namespace coset::schedule {
namespace {

/// Visits (rank, child, number of the child), every rank after its parent.
template <typename Visit>
void for_each_edge(rank_children const& children, rank_t root, Visit visit) {
  std::vector<rank_t> open{root};
  while (!open.empty()) {
    rank_t const rank = open.back();
    open.pop_back();
    for (std::size_t i = 0; i < children[rank].size(); ++i) {
      visit(rank, children[rank][i], i);
      open.push_back(children[rank][i]);
    }
  }
}

/// A block goes to one child after the other, and with a period of as many steps the next one follows.
read_steps along(rank_children const& children, rank_t root, block_t blocks) {
  std::vector<std::size_t> has_from(children.size());  // the step from which the first block can be read
  std::size_t const period = most_children(children);
  read_steps steps;
  for_each_edge(children, root, [&](rank_t rank, rank_t child, std::size_t i) {
    std::size_t const first = has_from[rank] + i;
    has_from[child] = first + 1;
    append(steps, {child, rank, first, period}, blocks);
  });
  return steps;
}

/// Two trees in which each edge is used once per period, both ways: a rank's children one after the other, and after them its
/// parent, or as roots each other.
class two_way_trees {
 public:
  two_way_trees(rank_t ranks, rank_t degree) : children_(ranks), up_(ranks), down_(ranks), half_((ranks + 1) / 2) {
    for (rank_run run : {rank_run{0, half_, 0}, rank_run{half_, ranks, 0}}) {
      if (run.first == run.last) continue;
      run.top = middle_of(run.first, run.last, degree);
      roots_.push_back(run.top);
      grow(children_, run, degree);
    }
    period_ = static_cast<std::int64_t>(most_children(children_)) + 1;
    find_steps();
  }

  read_steps steps(block_t blocks) const {
    read_steps all;
    for (rank_t const root : roots_)
      for_each_edge(children_, root, [&](rank_t rank, rank_t child, std::size_t) {
        append(all, turns_of(rank, child, up_[child], true), blocks);
        append(all, turns_of(child, rank, down_[child], false), blocks);
      });
    if (roots_.size() < 2) return all;
    append(all, turns_of(roots_[0], roots_[1], up_[roots_[0]], true), blocks);
    append(all, turns_of(roots_[1], roots_[0], up_[roots_[0]], true), blocks);
    return all;
  }

 private:
  /// Counted from the first step of all, at which a leaf begins.
  void find_steps() {
    std::int64_t earliest = 0;
    for (rank_t const root : roots_)
      for_each_edge(children_, root, [&](rank_t rank, rank_t child, std::size_t i) {
        up_[child] = up_[rank] - 1 - static_cast<std::int64_t>(i);
        earliest = std::min(earliest, up_[child]);
      });
    for (std::int64_t& step : up_) step -= earliest;
    for (rank_t const root : roots_) {
      down_[root] = up_[root];
      for_each_edge(children_, root, [&](rank_t rank, rank_t child, std::size_t) {
        // The edge's next turn after the block has come to the rank; never negative, as children's turns are before.
        std::int64_t const since = up_[child] - down_[rank] - 1;
        down_[child] = down_[rank] + 1 + (since % period_ + period_) % period_;
      });
    }
  }

  block_stream turns_of(rank_t reader, rank_t giver, std::int64_t first, bool folds) const {
    return {reader, giver, static_cast<std::size_t>(first), static_cast<std::size_t>(period_), folds};
  }

  rank_children children_;
  std::vector<std::int64_t> up_,
      down_;  // of each rank: the step in which its parent reads of it first, and it of its parent
  rank_t half_;
  std::vector<rank_t> roots_;
  std::int64_t period_ = 1;
};

rank_t useful_degree(rank_t degree, rank_t ranks) { return std::min(degree, std::max<rank_t>(ranks, 2) - 1); }

rank_t turned_by(rank_t turn, rank_t rank, rank_t ranks) {
  return static_cast<rank_t>((std::uint64_t{rank} + turn) % ranks);
}

}  // namespace

schedule pipelined_tree(rank_t ranks, collective verb, rank_t root, rank_t degree, block_t blocks) {
  require_room(ranks, blocks);
  rank_t const from = verb == collective::allreduce ? 0 : root;
  rank_t const most = useful_degree(degree, ranks);
  // A chain begins with its root, or it would have two arms and take two steps for every block.
  rank_t const turned = most == 1 ? from : 0, top = from - turned;
  rank_children children(ranks);
  grow(children, {0, ranks, top}, most);
  read_steps steps = along(children, top, blocks);
  for (auto& step : steps)
    for (block_read& r : step) {
      r.reader = turned_by(turned, r.reader, ranks);
      r.giver = turned_by(turned, r.giver, ranks);
    }
  return schedule_of_broadcast(ranks, blocks, std::move(steps), verb, from);
}

schedule dual_root(rank_t ranks, rank_t degree, block_t blocks) {
  require_room(ranks, blocks);
  return schedule_of_reads(ranks, blocks, two_way_trees(ranks, useful_degree(degree, ranks)).steps(blocks),
                           collective::allreduce, 0);
}

}  // namespace coset::schedule
