// SPDX-License-Identifier: Apache-2.0
#include "schedule/registry/named_pipelined.hpp"

#include <algorithm>
#include <bit>

#include "schedule/core/verbs.hpp"
#include "schedule/pipelines/n_block.hpp"
#include "schedule/pipelines/tree_pipelines.hpp"
#include "schedule/pipelines/two_trees.hpp"

namespace coset::schedule {
namespace {

/// 0 stands for as many as are in use at once and as many again, so that half of the steps are full. Where every rank has a
/// piece of its own, pieces are blocks enough.
block_t blocks_of(algorithm const& given, rank_t ranks, collective verb) {
  if (given.value("blocks") == best_number)
    throw schedule_error(given.text() +
                         ": which number is best depends on the bytes, as coset cost says; take a number");
  block_t const blocks = given.number("blocks");
  if (blocks > 0) return blocks;
  if (verb == collective::allgather || verb == collective::reduce_scatter) return 1;
  return std::max<block_t>(1, 2 * static_cast<block_t>(std::bit_width(ranks - 1)));
}

rank_t degree_of(algorithm const& given) {
  rank_t const degree = given.number("degree");
  if (degree == 0) throw schedule_error(given.text() + ": degree must be at least 1, which is a chain");
  return degree;
}

parameter const blocks_wanted{"blocks", "0", "equal parts of the vector, one after the other; 0: 2 ceil(log P)"};

parameter degree_wanted(char const* usual) {
  return {"degree", usual, "children of a rank: 1 a chain, 2 a binary tree"};
}

}  // namespace

std::vector<named_algorithm> pipelined_algorithms() {
  using enum coset::verb;
  return {
      {"n_block",
       "blocks on a circulant graph: n - 1 + ceil(log P) rounds each way, the fewest there can be",
       "Traff, Optimal broadcast schedules in logarithmic time",
       {allreduce, reduce, reduce_scatter, allgather, broadcast},
       {blocks_wanted},
       [](algorithm const& a, rank_t ranks, collective verb, rank_t root) {
         return n_block(ranks, verb, root, blocks_of(a, ranks, verb));
       }},
      {"two_trees",
       "half of the blocks along each of two binary trees; keeps rank order but for roots in the middle",
       "Sanders, Speck and Traff, Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       {allreduce, reduce, broadcast},
       {blocks_wanted},
       [](algorithm const& a, rank_t ranks, collective verb, rank_t root) {
         return two_trees(ranks, verb, root, blocks_of(a, ranks, verb));
       }},
      {"dual_root",
       "up and down two trees at once, whose roots exchange; keeps rank order",
       "Traff, A doubly-pipelined, dual-root reduction-to-all algorithm and implementation",
       {allreduce, reduce, broadcast},
       {blocks_wanted, degree_wanted("2")},
       [](algorithm const& a, rank_t ranks, collective verb, rank_t root) {
         return derive(dual_root(ranks, degree_of(a), blocks_of(a, ranks, verb)), verb, root);
       }},
      {"pipelined",
       "blocks along one tree or chain; trees keep rank order",
       "folklore",
       {allreduce, reduce, broadcast},
       {blocks_wanted, degree_wanted("1")},
       [](algorithm const& a, rank_t ranks, collective verb, rank_t root) {
         return pipelined_tree(ranks, verb, root, degree_of(a), blocks_of(a, ranks, verb));
       }},
  };
}

bool has_blocks(algorithm const& given) {
  return std::ranges::any_of(find_algorithm(given.name).parameters,
                             [](parameter const& p) { return p.name == blocks_wanted.name; });
}

}  // namespace coset::schedule
