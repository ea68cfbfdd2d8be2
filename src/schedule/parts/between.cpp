// SPDX-License-Identifier: Apache-2.0
#include "schedule/parts/between.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/groups/nesting.hpp"
#include "schedule/registry/named_fold.hpp"

namespace coset::schedule {
namespace {

/// Digit 0, by which ranks differ in the first round, decides first where a block lies; elsewhere it is the last.
std::vector<block_t> positions_by_round(std::vector<rank_t> const& dimensions, rank_t blocks) {
  std::vector<block_t> position(blocks);
  for (block_t b = 0; b < blocks; ++b) {
    block_t rest = b, at = 0;
    for (rank_t const d : dimensions) {
      at = at * d + rest % d;
      rest /= d;
    }
    position[b] = at;
  }
  return position;
}

/// Where blocks are whose they are, they stay.
bool is_moved(algorithm const& given, std::size_t blocks, collective verb) {
  bool const is_by_pieces = verb == collective::reduce_scatter || verb == collective::allgather;
  return given.name == "product" && blocks > 1 && !is_by_pieces;
}

/// Folds that nest leave more values on their rank.
void nest(part& p) {
  auto const assignments = [&] {
    std::vector<slot_t> of(p.own.blocks.size(), 0);
    for (auto const& step : p.own.steps) {
      for (assignment const& a : step) ++of[a.block];
    }
    return *std::ranges::max_element(of);
  };
  slot_t const before = assignments();
  p.own = nested(std::move(p.own));
  p.most_values += assignments() - before;
}

}  // namespace

std::optional<part> part_of_fold(algorithm const& given, rank_t ranks, rank_t rank, collective verb,
                                 part_options const& options) {
  auto const all = symmetric_form(given, ranks, verb);
  if (!all) return {};
  part made = part_of(*all, rank, options);
  if (given.parameters.contains("nested") && given.number("nested") != 0) nest(made);
  return made;
}

schedule between_hosts(algorithm const& given, rank_t hosts, collective verb, rank_t root) {
  auto made = make(given, hosts, verb, root);
  if (is_moved(given, made.blocks.size(), verb)) move_blocks(made, positions_by_round(given.numbers("dims"), hosts));
  return made;
}

part between_hosts_part(algorithm const& given, rank_t hosts, rank_t host, collective verb, rank_t root,
                        part_options const& options) {
  algorithm const whole = completed(given);
  require_verb(find_algorithm(given.name), verb);
  part made;
  if (auto fold = part_of_fold(whole, hosts, host, verb, options)) {
    made = *std::move(fold);
    if (is_moved(whole, made.blocks, verb)) move_blocks(made, positions_by_round(whole.numbers("dims"), hosts));
  } else {
    std::vector<rank_t> ones(hosts + 1);
    std::iota(ones.begin(), ones.end(), 0);
    made = part_of(between_hosts(whole, hosts, verb, root), ones, host, options);
  }
  merge_alike_blocks(made);
  return made;
}

}  // namespace coset::schedule
