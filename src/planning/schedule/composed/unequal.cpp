// SPDX-License-Identifier: Apache-2.0
// Unequal nodes: two levels on which every rank leads, with one radix for both.
#include "planning/schedule/composed/unequal.hpp"

#include "planning/schedule/composed/two_level.hpp"

namespace coset::schedule {

schedule unequal(std::vector<rank_t> const& nodes, rank_t radix, rank_t saved_steps) {
  std::string const k = std::to_string(radix);
  algorithm const between{"generalized", {{"radix", k}, {"saved_steps", std::to_string(saved_steps)}}};
  return two_level({.hosts = nodes, .leaders = 0, .between = between, .inner = radix});
}

}  // namespace coset::schedule
