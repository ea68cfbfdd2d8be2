// SPDX-License-Identifier: Apache-2.0
// The rows of the algorithms that are no fold chains: trees, dissemination, exchanges, compositions over nodes, pipelines.
#include "planning/schedule/registry/named_special.hpp"

#include <algorithm>
#include <bit>

#include "planning/schedule/algorithms/binomial.hpp"
#include "planning/schedule/algorithms/bruck_ho.hpp"
#include "planning/schedule/algorithms/dissemination.hpp"
#include "planning/schedule/algorithms/elimination.hpp"
#include "planning/schedule/algorithms/exchange.hpp"
#include "planning/schedule/algorithms/flexreduce.hpp"
#include "planning/schedule/composed/staggered.hpp"
#include "planning/schedule/composed/two_level.hpp"
#include "planning/schedule/composed/two_level_scan.hpp"
#include "planning/schedule/core/rank_order.hpp"
#include "planning/schedule/core/verbs.hpp"
#include "planning/schedule/pipelines/n_block.hpp"
#include "planning/schedule/pipelines/tree_pipelines.hpp"
#include "planning/schedule/pipelines/two_trees.hpp"
#include "planning/schedule/registry/least_steps.hpp"
#include "planning/schedule/registry/rows.hpp"
#include "planning/schedule/registry/trials.hpp"

namespace coset::schedule {
namespace {

rank_t at_least(rank_t lowest, algorithm const& given, std::string const& key) {
  rank_t const number = given.number(key);
  if (number < lowest) throw schedule_error(given.text() + ": " + key + " must be at least " + std::to_string(lowest));
  return number;
}

/// More ports than peers change nothing, and their number plus one need not fit.
rank_t ports_of(algorithm const& given, rank_t ranks) {
  return std::min(at_least(1, given, "n"), std::max<rank_t>(ranks, 2) - 1);
}

/// By default as many as are on their way at once and as many again. Where every rank has a piece, pieces are blocks enough.
block_t blocks_of(algorithm const& given, rank_t ranks, verb what) {
  if (block_t const blocks = given.number("blocks"); blocks > 0) return blocks;
  if (detail::is_half(what) || ranks == 1) return 1;
  return 2 * static_cast<block_t>(std::bit_width(ranks - 1));
}

std::vector<rank_t> nodes_of(algorithm const& given, rank_t ranks) {
  if (!given.parameters.contains("nodes"))
    throw schedule_error(given.name + " needs the ranks of every node, like nodes=5+2+4 for 11 ranks");
  auto nodes = given.numbers("nodes");
  std::uint64_t sum = 0;
  for (rank_t const size : nodes) sum += size;
  if (sum != ranks)
    throw schedule_error(given.text() + ": the nodes hold " + std::to_string(sum) + " ranks, not " +
                         std::to_string(ranks) + "; list sizes that add up, like nodes=5+2+4 for 11 ranks");
  return nodes;
}

/// Binomial reduce to each node's first rank, `between` among those, binomial broadcast. With recursive doubling or the binomial
/// tree between, these are [PY]'s SMP-rdb and SMP-binomial. The other ranks of a node idle meanwhile.
schedule through_leaders(algorithm const& given, rank_t ranks, algorithm between) {
  return two_level({.hosts = nodes_of(given, ranks), .leaders = 1, .between = std::move(between), .inner = 2});
}

/// All ranks lead, with one radix for all folds: 2·ceil(log c_max) + 2·ceil(log J) − saved_steps rounds on J nodes of c_j ranks.
/// With nothing saved the links of a node carry 2(J−1)/J vectors, the lower bound, a rank 2(c−1)/c + 2(J−1)/(J·c).
schedule all_lead(algorithm const& given, rank_t ranks) {
  rank_t const radix = at_least(2, given, "radix");
  algorithm between{"generalized",
                    {{"radix", value_of(radix)}, {"saved_steps", value_of(given.number("saved_steps"))}}};
  return two_level({.hosts = nodes_of(given, ranks), .leaders = 0, .between = std::move(between), .inner = radix});
}

tree tree_of(algorithm const& given, rank_t ranks) {
  if (!given.parameters.contains("tree")) return two_level_tree(nodes_of(given, ranks));
  auto found = read_tree(given.value("tree"));
  if (found.ranks != ranks)
    throw schedule_error(given.text() + ": the tree holds " + std::to_string(found.ranks) + " ranks, not " +
                         std::to_string(ranks) + "; ask for as many ranks as it has");
  return found;
}

// The generators fold runs of ranks in cyclic order; as pairs these are put into rank order.
schedule ordered_if_asked(algorithm const& given, schedule cyclic) {
  if (given.number("ordered") == 0) return cyclic;
  if (cyclic.idempotent_only)
    throw schedule_error(given.text() + " on " + std::to_string(cyclic.ranks) +
                         " ranks counts some contributions twice and so keeps no order; adapted_dissemination and "
                         "bruck_ho do");
  return in_rank_order(cyclic);
}

constexpr parameter_text keeps_order{"ordered", "0",
                                     "1: keep rank order, values that wrap past the last rank in two parts", 0};
constexpr parameter_text ports{"n", "1", "ports: peers read from per round", 1};
constexpr parameter_text blocks{"blocks", "0", "equal parts of the vector, one after the other; 0: 2 ceil(log P)", 1};
constexpr parameter_text degree{"degree", "2", "most children of a rank; 1: a chain", 1};
constexpr parameter_text nodes{"nodes", "", "ranks of each node, 5+2+4", 1};
constexpr parameter_text radix_between{"radix", "2", "of the algorithm between the nodes", 2, true};
constexpr parameter_text dims_between{"dims", "1", "of the algorithm between the nodes, if that is product", 1, true};
constexpr parameter_text factors_between{"factors", "1", "of the algorithm between the nodes, if that is tower", 1,
                                         true};
constexpr parameter_text nests_between{"nested", "0", "1: of product, the same bits whatever its dims",
                                       parameter::no_number, true};
constexpr parameter_text saved_between{"saved_steps", "0", "rounds saved between the nodes", 0, true};
constexpr parameter_text blocks_between{"blocks", "0", "of the algorithm between the nodes, if that is a pipeline", 1,
                                        true};
constexpr parameter_text degree_between{"degree", "2", "the same: most children of a node", 1, true};
constexpr parameter_text tree_file{"tree", "", "JSON file with the tree; nodes=5+2+4 stands for two levels"};

constexpr char const* no_right_blocks = "no number of blocks is right for all lengths";

}  // namespace

std::vector<named_algorithm> special_algorithms() {
  static constexpr char const* end = "End et al., Butterfly-like algorithms for GASPI split-phase allreduce";
  static constexpr char const* trees = "Patarasuk and Yuan, Bandwidth efficient all-reduce on tree topologies";
  static constexpr algorithm_text rows[] = {
      {"binomial",
       "tree over the whole vector, 2 ceil(log P) rounds; keeps rank order",
       "folklore",
       served::of_whole_vectors,
       {{"radix", "2", "runs of ranks joined per round", 2}},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return binomial(ranks, what, root, at_least(2, a, "radix"));
       },
       tree_there_and_back},
      {"pairwise_exchange",
       "recursive doubling after the last P - 2^K ranks gave theirs to a partner",
       end,
       served::reductions,
       {},
       [](algorithm const&, rank_t ranks, verb what, rank_t root) {
         return derive(pairwise_exchange(ranks), what, root);
       },
       once_log},
      {"butterfly",
       "recursive doubling, virtual ranks played by real ones; idempotent operations only",
       end,
       served::for_all,
       {},
       [](algorithm const&, rank_t ranks, verb, rank_t) { return butterfly(ranks); },
       once_log},
      {"dissemination",
       "n-way dissemination; exact only if (n+1)^(rounds-1) divides P",
       end,
       served::for_all,
       {ports, keeps_order},
       [](algorithm const& a, rank_t ranks, verb, rank_t) {
         return ordered_if_asked(a, dissemination(ranks, ports_of(a, ranks)));
       },
       once_log_of_ports},
      {"adapted_dissemination",
       "n-way dissemination whose last round counts nothing twice",
       end,
       served::reductions,
       {ports, keeps_order},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return derive(ordered_if_asked(a, adapted_dissemination(ranks, ports_of(a, ranks))), what, root);
       },
       once_log_of_ports},
      {"bruck_ho",
       "n ports, any P, whole vector, fewest rounds",
       "Bruck and Ho, Efficient global combine operations",
       served::reductions,
       {ports, keeps_order},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return derive(ordered_if_asked(a, bruck_ho(ranks, ports_of(a, ranks))), what, root);
       },
       once_log_of_ports},
      {"elimination_3_2",
       "recursive halving and doubling, odd groups merged three to two",
       "Rabenseifner and Träff, More efficient reduction algorithms for non-power-of-two number of processors",
       served::reductions,
       {},
       [](algorithm const&, rank_t ranks, verb what, rank_t root) {
         return derive(elimination_3_2(ranks), what, root);
       },
       one_step},
      {"leaders",
       "reduce to one rank per node, allreduce between them, broadcast",
       "folklore",
       served::reductions,
       {nodes, {"between", "generalized", "the algorithm between the leaders, a name alone"}},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return derive(through_leaders(a, ranks, {a.value("between"), {}}), what, root);
       },
       one_step,
       nullptr,
       {{"nodes", the_nodes}}},
      {"smp_rdb",
       "leaders with recursive doubling between them",
       trees,
       served::reductions,
       {nodes},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return derive(through_leaders(a, ranks, {"recursive_doubling", {}}), what, root);
       },
       one_step,
       nullptr,
       {{"nodes", the_nodes}}},
      {"smp_binomial",
       "leaders with a binomial tree between them, of the vector whole or in segments",
       trees,
       served::reductions,
       {nodes, {"segments", "1", "equal parts of the vector that follow each other step by step", 1}},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         block_t const segments = detail::is_barrier(what) ? 1 : a.number("segments");
         return derive(staggered(through_leaders(a, ranks, {"binomial", {}}), segments), what, root);
       },
       one_step,
       nullptr,
       {{"nodes", the_nodes}}},
      {"unequal",
       "reduce-scatter in unequal nodes, pieces between them, allgather; optimal between nodes",
       "ours",
       served::reductions,
       {nodes, {"radix", "2", "of every fold", 2}, saved_between},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) { return derive(all_lead(a, ranks), what, root); },
       one_step,
       nullptr,
       {{"nodes", the_nodes}, {"radix", radices_of_node}, {"saved_steps", up_to_log_of_nodes}}},
      {"two_level",
       "wide folds to some leaders in each node, pieces between nodes; optimal between nodes",
       "ours",
       served::reductions,
       {nodes,
        {"leaders", "1", "of each node, its first ranks, each for a part of the vector; 0: all ranks", 0},
        {"between", "generalized", "the algorithm between the nodes, a name alone"},
        radix_between,
        dims_between,
        factors_between,
        saved_between,
        nests_between,
        blocks_between,
        degree_between,
        {"inner", "0", "values combined in one pass inside a node; 0: those of all its ranks", 2}},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         two_level_shape const shape{nodes_of(a, ranks), a.number("leaders"), between_of(a), a.number("inner")};
         if (detail::is_half(what) && serves(find_algorithm(shape.between.name), what)) return two_level(shape, what);
         return derive(two_level(shape), what, root);
       },
       one_step,
       nullptr,
       {{"nodes", the_nodes},
        {"leaders", one_or_all},
        {"radix", two_or_all_nodes},
        {"saved_steps", none_or_log_of_nodes}}},
      {"two_level_scan",
       "prefixes by some leaders in each node, and over nodes those of what each has in all",
       "ours",
       served::scans,
       {nodes,
        {"leaders", "1", "of each node, its first ranks, each for a part of the vector; 0: all ranks", 0},
        {"between", "recursive_doubling", "the algorithm of the exclusive scan between the nodes, a name alone"}},
       [](algorithm const& a, rank_t ranks, verb what, rank_t) {
         return two_level_scan({nodes_of(a, ranks), a.number("leaders"), between_of(a)}, what);
       },
       one_step},
      {"flexreduce",
       "every rank busy on every level of a tree of unequal nodes",
       "Lee et al., FlexReduce",
       served::reductions,
       {tree_file, nodes},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return derive(flexreduce(tree_of(a, ranks)), what, root);
       },
       one_step,
       nullptr,
       {{"nodes", the_nodes}}},
      {"tree_ring",
       "ring in depth-first order: no contention on a tree of switches",
       trees,
       served::reductions,
       {tree_file, nodes},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return derive(tree_ring(tree_of(a, ranks)), what, root);
       },
       twice_each_rank,
       nullptr,
       {{"nodes", the_nodes}}},
      {"n_block",
       "blocks over a circulant graph, n - 1 + ceil(log P) rounds each way: the fewest there can be",
       "Traff, Optimal broadcast schedules in logarithmic time",
       served::in_blocks,
       {blocks},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return n_block(ranks, what, root, blocks_of(a, ranks, what));
       },
       one_step,
       nullptr,
       {},
       no_right_blocks},
      {"two_trees",
       "blocks by turns along two binary trees; rank order where the first or last rank is root",
       "Sanders, Speck and Traff, Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       served::of_whole_vectors_in_blocks,
       {blocks},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return two_trees(ranks, what, root, blocks_of(a, ranks, what));
       },
       one_step,
       nullptr,
       {},
       no_right_blocks},
      {"dual_root",
       "blocks up and down two trees at once, whose roots exchange; keeps rank order",
       "Traff, A doubly-pipelined, dual-root reduction-to-all algorithm",
       served::of_whole_vectors_in_blocks,
       {blocks, degree},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return derive(dual_root(ranks, at_least(1, a, "degree"), blocks_of(a, ranks, what)), what, root);
       },
       one_step,
       nullptr,
       {},
       no_right_blocks},
      {"pipelined",
       "blocks along a chain or tree; trees keep rank order",
       "folklore",
       served::of_whole_vectors_in_blocks,
       {blocks, degree},
       [](algorithm const& a, rank_t ranks, verb what, rank_t root) {
         return pipelined_tree(ranks, what, root, at_least(1, a, "degree"), blocks_of(a, ranks, what));
       },
       one_step,
       nullptr,
       {},
       no_right_blocks},
  };
  return rows_of(rows);
}

}  // namespace coset::schedule
