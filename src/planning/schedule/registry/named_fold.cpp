// SPDX-License-Identifier: Apache-2.0
// The rows of the algorithms that are fold chains: a group, a chain, and how many steps to save.
#include "planning/schedule/registry/named_fold.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "planning/schedule/algorithms/latency.hpp"
#include "planning/schedule/algorithms/scan.hpp"
#include "planning/schedule/algorithms/swing.hpp"
#include "planning/schedule/core/assembly.hpp"
#include "planning/schedule/core/rank_order.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/core/verbs.hpp"
#include "planning/schedule/groups/chains.hpp"
#include "planning/schedule/groups/nesting.hpp"
#include "planning/schedule/groups/symmetric_verbs.hpp"
#include "planning/schedule/registry/foldings.hpp"
#include "planning/schedule/registry/least_steps.hpp"
#include "planning/schedule/registry/permutation.hpp"
#include "planning/schedule/registry/rows.hpp"
#include "planning/schedule/registry/trials.hpp"

namespace coset::schedule {

namespace {

constexpr parameter_text saved_steps{"saved_steps", "0",
                                     "distribution steps saved by reducing every block on more ranks, 0..L", 0};
constexpr parameter_text radix{"radix", "2", "values combined in one pass", 2};
constexpr parameter_text ordered{
    "ordered", "0", "1: values that wrap past the last rank travel in two parts, so that rank order is kept", 0};
constexpr parameter_text dims{"dims", "",
                              "ranks per level, fastest first, like 4x3; their product is the number of ranks", 1};
constexpr parameter_text whole_or_radix{"radix", "0", "values combined in one pass; 0: those of a whole level", 2};
constexpr parameter_text group_wanted{
    "group", "cyclic",
    "cyclic, dihedral, binary, or factors, fastest first: 4x3, d10 (dihedral), 3.7.2 (Z_3 "
    "multiplies Z_7 by powers of 2)"};
constexpr parameter_text shifts{
    "shifts", "",
    "of the steps, like 11+6+3+2+1, several at once like 1.2+3, or a chain's name: swing, circulant, "
    "generalized, dilated, bruck, ring, naive, direct"};
constexpr parameter_text cap{"cap", "0", "most blocks that a rank sends a peer in a step; 0: any number", 1};
constexpr parameter_text far{"far", "0", "1: far ranks first", 0};
constexpr parameter_text nests{
    "nested", "0",
    "1: folds group by group, by prime factors: the same bits for all dims of these factors, 3x2x2, "
    "6x2, 12"};

constexpr char const* priced_as_product = "it is priced by itself, along every order of dimensions";

/// A barrier moves no data, so it saves all the steps that can be saved.
symmetric_schedule folds(group const& ranks, chain const& steps, std::uint32_t saved, verb what) {
  return fold(ranks, steps, steps, detail::is_barrier(what) ? static_cast<std::uint32_t>(steps.size()) : saved);
}

schedule folded(group const& ranks, chain const& steps, std::uint32_t saved, verb what, rank_t root) {
  return derive(expand(folds(ranks, steps, saved, what)), what, root);
}

bool is_set(algorithm const& a, std::string const& key) { return a.parameters.contains(key) && a.number(key) != 0; }

/// What keeps rank order as it is, or the order of a circle made to.
schedule ordered_of(symmetric_schedule const& all) {
  schedule plain = expand(all);
  return validate(plain).ordered ? plain : in_rank_order(expand(all, source_order::as_generated));
}

/// The normal form, or with ordered=1 rank order.
schedule along_chain(algorithm const& a, rank_t ranks, verb what, rank_t root) {
  bool const has_blocks = !detail::is_barrier(what) && !is_set(a, "saved_steps");
  if (has_blocks) require_room(ranks, ranks);  // before the chain of so many is made
  auto const along = folding_of(a, ranks).value();
  auto const all = folds(along.ranks, along.steps, a.number("saved_steps"), what);
  if (is_set(a, "ordered")) return derive(ordered_of(all), what, root);
  return derive(is_set(a, "nested") ? nested(expand(all)) : expand(all), what, root);
}

schedule direct(algorithm const& a, rank_t ranks, verb what, rank_t root) {
  if (detail::is_scan(what)) return direct_scan(ranks, what, a.number("saved_steps") > 0);
  return along_chain(a, ranks, what, root);
}

schedule latency(algorithm const& a, rank_t ranks, verb what, rank_t root) {
  return derive(latency_optimal(ranks, a.number("radix")), what, root);
}

/// Over Z_2^k, neighbours first. Where P is no power of two, the first P − 2^k pairs of neighbours act as one rank each:
/// the even one folds both inputs before and hands the result back after.
schedule binary(rank_t ranks, std::uint32_t saved, verb what, rank_t root) {
  auto const bits = static_cast<unsigned>(std::bit_width(ranks)) - 1;
  group const powers = group::binary(bits);
  rank_t const core = powers.order(), pairs = ranks - core;
  require_room(core, saved < bits ? core : std::max(1u, bits / 2));  // before the folds of so many are made
  chain const steps = lifted(powers.factors(), core, direct_chain);
  if (pairs == 0) return folded(powers, steps, saved, what, root);

  schedule const inner = folded(powers, steps, saved, verb::allreduce, 0);
  mapped part{inner, {}, {}};
  for (rank_t r = 0; r < core; ++r) part.members.push_back(r < pairs ? 2 * r : r + pairs);
  std::vector<fraction> cuts;
  append_cuts(part, cuts);
  assembly all(ranks, cuts);
  for (rank_t r = 0; r < pairs; ++r) all.fold(2 * r, {}, std::vector<rank_t>{2 * r, 2 * r + 1});
  all.end_step();
  all.run(std::vector{part});
  for (rank_t r = 0; r < pairs; ++r) all.fold(2 * r + 1, {}, std::vector<rank_t>{2 * r});
  all.end_step();
  return derive(std::move(all).finish(), what, root);
}

/// Over the dihedral group of an even number of ranks, or of all but the last of an odd one. Each piece has one owner, so verbs
/// of pieces have no steps to save. As the root the last rank gets or gives all blocks at once, and owns none.
schedule swing(algorithm const& a, rank_t ranks, verb what, rank_t root) {
  std::uint32_t const saved = a.number("saved_steps");
  if (ranks % 2 == 0) return along_chain(a, ranks, what, root);
  if (ranks == 1) return folded(group::cyclic(1), {}, saved, what, root);
  bool const is_root = detail::is_rooted(what) && root + 1 == ranks;
  bool const is_owner = detail::is_of_pieces(what) || (saved == 0 && !detail::is_barrier(what) && !is_root);
  if (is_owner) require_room(ranks, ranks);  // before the chain of so many is made
  auto const others = folding_of(a, ranks - 1).value();
  require_saved(saved, others.ranks, others.steps);
  if (is_owner) return derive(swing_beside_last(others.ranks, others.steps), what, root);
  return derive(beside_last(expand(folds(others.ranks, others.steps, saved, what))), what, root);
}

schedule tree_of_exchanges(algorithm const& a, rank_t ranks, verb what, rank_t root) {
  return derive(bine_tree(ranks, detail::is_rooted(what) ? root : 0, a.number("far") != 0), what, root);
}

std::uint32_t floor_log2(rank_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks)) - 1; }

schedule recursive_doubling(algorithm const&, rank_t ranks, verb what, rank_t root) {
  if (detail::is_scan(what)) return doubling_scan(ranks, what);
  return binary(ranks, floor_log2(ranks), what, root);
}

schedule recursive_halving(algorithm const&, rank_t ranks, verb what, rank_t root) {
  return binary(ranks, detail::is_barrier(what) ? floor_log2(ranks) : 0, what, root);
}

schedule hybrid(algorithm const& a, rank_t ranks, verb what, rank_t root) {
  return binary(ranks, a.number("saved_steps"), what, root);
}

}  // namespace

std::optional<symmetric_schedule> symmetric_form(algorithm const& a, rank_t ranks, verb what) {
  bool const is_half = detail::is_half(what);
  if (is_set(a, "ordered") || is_permuted(a) || !(served::for_all(what) || is_half)) return {};
  if (is_half && is_set(a, "saved_steps")) return {};
  auto const along = folding_of(a, ranks);
  if (!along) return {};
  auto made = folds(along->ranks, along->steps, a.number("saved_steps"), what);
  if (!is_half) return made;
  return detail::gets_pieces(what) ? reduce_scatter_of(std::move(made)) : allgather_of(std::move(made));
}

// Digit 0, by which ranks differ in the first round, decides first where a block lies; in the numbers of ranks it is the last.
std::vector<block_t> block_positions(algorithm const& completed, std::size_t blocks, verb what) {
  if (completed.name != "product" || detail::is_of_pieces(what) || blocks < 2) return {};
  std::vector<block_t> position(blocks);
  auto const dimensions = completed.numbers("dims");
  for (block_t b = 0; b < blocks; ++b) {
    block_t rest = b;
    for (rank_t const d : dimensions) {
      position[b] = position[b] * d + rest % d;
      rest /= d;
    }
  }
  return position;
}

std::vector<named_algorithm> fold_algorithms() {
  static constexpr algorithm_text rows[] = {
      {"direct",
       "every rank folds its block of all inputs at once; saved_steps=1: every rank folds everything",
       "[KZ] with radix P",
       served::any,
       {saved_steps},
       direct,
       there_and_back,
       named_chain,
       {{"saved_steps", none_or_one}},
       priced_as_product},
      {"product",
       "direct within each level of a hierarchy, one level after the other",
       "radix-k, any dimensions",
       served::reductions,
       {dims, whole_or_radix, cap, saved_steps, nests},
       along_chain,
       twice_each_dimension,
       direct_by_dimension,
       {{"dims", dims_of_levels}, {"saved_steps", up_to_dims}},
       priced_as_product},
      {"generalized",
       "interval chain: ceil(log_radix P) steps each way for any P",
       "[KZ] sections 7-9",
       served::reductions,
       {radix, cap, saved_steps},
       along_chain,
       twice_log,
       named_chain,
       {{"radix", radices}, {"saved_steps", up_to_log}}},
      {"latency",
       "whole vector in ceil(log_radix P) steps, at most radix combines each",
       "[KZ] section 9, any radix",
       served::reductions,
       {radix},
       latency,
       once_log,
       nullptr,
       {{"radix", radices}}},
      {"ring",
       "P-1 neighbour steps each way",
       "[KZ] with shift 1",
       served::reductions,
       {saved_steps, ordered},
       along_chain,
       twice_each_rank,
       named_chain,
       {{"ordered", no_or_yes}}},
      {"naive",
       "P-1 steps each way, step i by shift i",
       "[KZ] (10)-(15)",
       served::reductions,
       {saved_steps},
       along_chain,
       twice_each_rank,
       named_chain},
      {"capped",
       "at most cap blocks a step, between the ring and ceil(log2 P) steps",
       "[KZ], its open problem",
       served::reductions,
       {{"cap", "1", "most blocks that a rank sends in a step", 1}, saved_steps},
       along_chain,
       twice_log,
       chain_under_cap},
      {"circulant",
       "roughly halving skips",
       "[T] Algorithms 1 and 2",
       served::reductions,
       {radix, cap, saved_steps},
       along_chain,
       twice_log,
       named_chain,
       {{"radix", radices}}},
      {"bruck",
       "Bruck's allgather, reversed and forward",
       "Bruck et al.",
       served::reductions,
       {radix, cap, saved_steps},
       along_chain,
       twice_log,
       named_chain},
      {"dilated",
       "skips 1, radix, radix^2 ...: partials are runs of ranks",
       "[KZ], dilated",
       served::reductions,
       {radix, cap, saved_steps, ordered},
       along_chain,
       twice_log,
       named_chain,
       {{"radix", radices}, {"ordered", no_or_yes}}},
      {"tower",
       "an interval chain on each digit of Z_P; factors P/2 x 2 save a step at no more volume",
       "[KZ], subgroup chain",
       served::reductions,
       {{"factors", "", "digits, lowest first, like 11x2; their product is the number of ranks", 1},
        radix,
        cap,
        saved_steps},
       along_chain,
       twice_log,
       interval_tower,
       {{"radix", radices}, {"factors", halves}, {"saved_steps", one}}},
      {"blueconnect",
       "a ring within each level of a hierarchy",
       "Cho et al., BlueConnect",
       served::reductions,
       {dims, cap, saved_steps},
       along_chain,
       twice_log,
       ring_by_dimension},
      {"recursive_doubling",
       "neighbours first, whole vector in log2 P steps; 2 more if P is no power of two",
       "[KZ] over Z_2^k",
       served::any,
       {},
       recursive_doubling,
       once_log},
      {"recursive_halving",
       "the same group, halves each way in 2 log2 P steps; 2 more if P is no power of two",
       "Rabenseifner; [KZ] over Z_2^k",
       served::reductions,
       {},
       recursive_halving,
       twice_floor_log},
      {"hybrid",
       "between recursive halving and doubling: saves 0..log2 P steps",
       "[KZ] over Z_2^k",
       served::reductions,
       {saved_steps},
       hybrid,
       twice_floor_log,
       nullptr,
       {{"saved_steps", up_to_bits}}},
      {"swing",
       "exchanges over distances 1, 1, 3, 5, 11 ...: ceil(log2 P) steps each way, near first; odd P: as P-1",
       "De Sensi et al., Swing; [KZ] over the dihedral group",
       served::reductions,
       {cap, saved_steps},
       swing,
       twice_floor_log,
       even_exchanges},
      {"bine",
       "swing's exchanges, near ranks first or last",
       "De Sensi et al., Bine trees; [KZ] over the dihedral group",
       served::reductions,
       {far, cap, saved_steps},
       swing,
       twice_floor_log,
       even_exchanges,
       {},
       "by default it is swing"},
      {"bine_tree",
       "a tree of bine's exchanges over the whole vector, 2 ceil(log2 P) rounds",
       "De Sensi et al., Bine trees",
       served::of_whole_vectors,
       {far},
       tree_of_exchanges,
       tree_there_and_back,
       nullptr,
       {},
       "it has binomial's rounds and volumes"},
      {"pat",
       "skips 1, 2, 4 ..., at most cap blocks a step",
       "Jeaugey, PAT; [KZ], dilated and capped",
       served::reductions,
       {radix, cap, saved_steps},
       along_chain,
       twice_log,
       dilated_under_cap,
       {},
       "by default it is dilated"},
      {"fold",
       "a chain of one's own, over any group",
       "[KZ], any chain and group",
       served::reductions,
       {group_wanted, shifts, radix, cap, saved_steps, ordered},
       along_chain,
       one_step,
       own_chain},
  };
  return rows_of(rows);
}

}  // namespace coset::schedule
