// SPDX-License-Identifier: Apache-2.0
// Values of parameters that are tried: a column of the registry.
#pragma once

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <string>
#include <vector>

#include "planning/schedule/registry/least_steps.hpp"

namespace coset::schedule {

using values = std::vector<std::string>;

inline values numbers(std::initializer_list<std::uint32_t> all) {
  values texts;
  for (std::uint32_t const n : all) texts.push_back(std::to_string(n));
  return texts;
}
inline values numbers_to(std::uint32_t last) {
  values texts;
  for (std::uint32_t n = 0; n <= last; ++n) texts.push_back(std::to_string(n));
  return texts;
}
inline values radices_of(rank_t ranks) {
  return ranks > 8   ? numbers({2, 3, 4, 8})
         : ranks > 4 ? numbers({2, 3, 4})
         : ranks > 3 ? numbers({2, 3})
                     : numbers({2});
}
inline std::uint32_t log_of_nodes(trial_setting const& s, algorithm const& a) {
  return ceil_log(static_cast<rank_t>(s.nodes.size()), a.number("radix"));
}

inline values radices(trial_setting const& s, algorithm const&) { return radices_of(s.ranks); }
inline values no_or_yes(trial_setting const&, algorithm const&) { return numbers({0, 1}); }
inline values none_or_one(trial_setting const& s, algorithm const&) { return numbers_to(s.ranks > 1 ? 1 : 0); }
inline values one(trial_setting const&, algorithm const&) { return numbers({1}); }
inline values up_to_log(trial_setting const& s, algorithm const& a) {
  return numbers_to(ceil_log(s.ranks, a.number("radix")));
}
inline values up_to_bits(trial_setting const& s, algorithm const&) {
  return numbers_to(static_cast<std::uint32_t>(std::bit_width(s.ranks)) - 1);
}
inline values halves(trial_setting const& s, algorithm const& a) {
  if (!halves_save_a_step(s.ranks, a.number("radix"))) return {};
  return values(1, std::to_string(s.ranks / 2) + "x2");
}
inline values dims_of_levels(trial_setting const& s, algorithm const&) { return s.dims; }
inline values up_to_dims(trial_setting const&, algorithm const& a) {
  return numbers_to(static_cast<std::uint32_t>(a.numbers("dims").size()));
}

inline values the_nodes(trial_setting const& s, algorithm const&) {
  if (s.nodes.size() < 2) return {};
  return values(1, value_of(s.nodes, '+'));
}
inline values radices_of_node(trial_setting const& s, algorithm const&) {
  return radices_of(std::ranges::max(s.nodes));
}
inline values up_to_log_of_nodes(trial_setting const& s, algorithm const& a) { return numbers_to(log_of_nodes(s, a)); }
inline values one_or_all(trial_setting const&, algorithm const&) { return numbers({1, 0}); }
inline values two_or_all_nodes(trial_setting const& s, algorithm const&) {
  auto const all = static_cast<rank_t>(s.nodes.size());
  return all == 2 ? numbers({2}) : numbers({2, all});
}
inline values none_or_log_of_nodes(trial_setting const& s, algorithm const& a) {
  return numbers({0, log_of_nodes(s, a)});
}

}  // namespace coset::schedule
