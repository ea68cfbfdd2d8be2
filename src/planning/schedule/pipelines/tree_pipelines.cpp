// SPDX-License-Identifier: Apache-2.0
// When which block passes which edge of a tree: every edge once per period, and the edges of one rank one after the other.
#include "planning/schedule/pipelines/tree_pipelines.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "planning/schedule/pipelines/block_reads.hpp"
#include "planning/schedule/pipelines/rank_trees.hpp"

namespace coset::schedule {
namespace {

rank_t useful_degree(rank_t degree, rank_t ranks) { return std::min(degree, std::max<rank_t>(ranks, 2) - 1); }

/// Two trees in which every edge is used once per period, both ways: a rank's children one after the other, and after them
/// its parent, or as tops each other.
class two_way_trees {
 public:
  two_way_trees(rank_t ranks, rank_t degree) : up_(ranks), down_(ranks) {
    rank_t const half = (ranks + 1) / 2;
    std::array const halves{balanced(0, half, degree), balanced(half, std::max(ranks, half + 1), degree)};
    tops_ = {halves[0].top, halves[1].top};
    for (rank_run const& each : std::span(halves).first(ranks < 2 ? 1 : 2)) grow(edges_, each, degree);
    period_ = most_children(edges_) + 1;
    find_steps();
  }

  block_reads reads(block_t blocks) const {
    block_reads all;
    for (auto const& [parent, child, number] : edges_) {
      append(all, {up_[child], parent, child, 0, true}, period_, blocks);
      append(all, {down_[child], child, parent, 0, false}, period_, blocks);
    }
    if (up_.size() < 2) return all;
    append(all, {up_[tops_[0]], tops_[0], tops_[1], 0, true}, period_, blocks);
    append(all, {up_[tops_[0]], tops_[1], tops_[0], 0, true}, period_, blocks);
    return all;
  }

 private:
  void find_steps() {
    // Of each rank, so many steps before the tops exchange the same block, its parent reads of it.
    std::uint32_t earliest = 0;
    for (auto const& [parent, child, number] : edges_)
      earliest = std::max(earliest, up_[child] = up_[parent] + 1 + number);
    for (std::uint32_t& step : up_) step = earliest - step;
    for (rank_t const top : tops_)
      if (top < down_.size()) down_[top] = up_[top];
    for (auto const& [parent, child, number] : edges_) {
      // The edge's first turn after the block has come to the parent: turns are `period` steps apart, before and after.
      std::uint32_t const since = (down_[parent] + 1 - up_[child]) % period_;
      down_[child] = down_[parent] + 1 + (since == 0 ? 0 : period_ - since);
    }
  }

  tree_edges edges_;
  std::vector<std::uint32_t> up_,
      down_;  // of each rank: the step in which its parent reads of it first, and it of its parent
  std::array<rank_t, 2> tops_{};
  std::uint32_t period_ = 1;
};

}  // namespace

schedule pipelined_tree(rank_t ranks, verb what, rank_t root, rank_t degree, block_t blocks) {
  require_blocks(ranks, blocks);
  rank_t const from = detail::is_rooted(what) ? root : 0;
  rank_t const most = useful_degree(degree, ranks);
  // A chain begins with its root, or it would have two arms and take two steps for every block.
  rank_t const turn = most == 1 ? from : 0;
  auto const turned = [&](std::uint64_t rank) { return static_cast<rank_t>((rank + turn) % ranks); };
  tree_edges edges;
  grow(edges, {0, ranks, from - turn}, most);
  std::uint32_t const period = most_children(edges);
  std::vector<std::uint32_t> first(ranks);  // the step from which a rank's first block can be read
  block_reads reads;
  for (auto const& [parent, child, number] : edges) {
    first[child] = first[parent] + number + 1;
    append(reads, {first[child] - 1, turned(child), turned(parent), 0}, period, blocks);
  }
  return schedule_of_broadcast(ranks, blocks, std::move(reads), what, from);
}

schedule dual_root(rank_t ranks, rank_t degree, block_t blocks) {
  require_blocks(ranks, blocks);
  auto const reads = two_way_trees(ranks, useful_degree(degree, ranks)).reads(blocks);
  return schedule_of_reads(ranks, blocks, reads, verb::allreduce, 0);
}

}  // namespace coset::schedule
