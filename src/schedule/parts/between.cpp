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
  if (auto const positions = block_positions(given, made.blocks, verb); !positions.empty())
    move_blocks(made, positions);
  return made;
}

part between_hosts_part(algorithm const& given, rank_t hosts, rank_t host, collective verb, rank_t root,
                        part_options const& options) {
  algorithm const whole = completed(given);
  require_verb(find_algorithm(given.name), verb);
  part made;
  if (auto fold = part_of_fold(whole, hosts, host, verb, options)) {
    made = *std::move(fold);
  } else {
    std::vector<rank_t> ones(hosts + 1);
    std::iota(ones.begin(), ones.end(), 0);
    made = part_of(make(whole, hosts, verb, root), ones, host, options);
  }
  merge_alike_blocks(made);
  return made;
}

}  // namespace coset::schedule
