// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/parts/between.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "planning/schedule/groups/nesting.hpp"
#include "planning/schedule/registry/named_fold.hpp"

namespace coset::schedule {
namespace {

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

std::optional<part> part_of_fold(algorithm const& given, rank_t ranks, rank_t rank, verb what,
                                 part_options const& options) {
  auto const all = symmetric_form(given, ranks, what);
  if (!all) return {};
  part made = part_of(*all, rank, options);
  if (given.parameters.contains("nested") && given.number("nested") != 0) nest(made);
  if (auto const positions = block_positions(given, made.blocks, what); !positions.empty())
    move_blocks(made, positions);
  return made;
}

part between_hosts_part(algorithm const& given, rank_t hosts, rank_t host, verb what, rank_t root,
                        part_options const& options) {
  algorithm const whole = completed(given);
  require_verb(find_algorithm(given.name), what);
  part made;
  if (auto fold = part_of_fold(whole, hosts, host, what, options)) {
    made = *std::move(fold);
  } else {
    std::vector<rank_t> ones(hosts + 1);
    std::iota(ones.begin(), ones.end(), 0);
    made = part_of(make(whole, hosts, what, root), ones, host, options);
  }
  merge_alike_blocks(made);
  return made;
}

}  // namespace coset::schedule
