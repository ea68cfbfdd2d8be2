// SPDX-License-Identifier: Apache-2.0
// How many steps schedules take at least, by the parameters of their algorithm: a column of the registry.
#pragma once

#include <algorithm>
#include <bit>

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// Rounds in which radix^rounds reach all ranks.
inline std::uint32_t ceil_log(rank_t ranks, rank_t radix) {
  std::uint32_t steps = 0;
  for (std::uint64_t reach = 1; reach < ranks; reach *= radix) ++steps;
  return steps;
}

/// Whether it takes a step less to fold within each half of the ranks, which then swap what they have.
inline bool halves_save_a_step(rank_t ranks, rank_t radix) {
  return ranks > 2 && ranks % 2 == 0 && ceil_log(ranks / 2, radix) < ceil_log(ranks, radix);
}

inline std::uint32_t number_or(algorithm const& a, char const* key, std::uint32_t otherwise) {
  return a.parameters.contains(key) ? a.number(key) : otherwise;
}
inline rank_t radix_taken(algorithm const& a) { return std::max(2u, number_or(a, "radix", 2)); }
inline std::uint32_t steps_unsaved(std::uint32_t steps, algorithm const& a) {
  std::uint32_t const saved = number_or(a, "saved_steps", 0);
  return steps > saved ? steps - saved : 1;
}

inline std::uint32_t dimensions_twice(algorithm const& a, rank_t) {
  auto const all = a.numbers("dims");
  auto const alone = static_cast<std::size_t>(std::ranges::count(all, 1u));
  return steps_unsaved(static_cast<std::uint32_t>(2 * (all.size() - alone)), a);
}
inline std::uint32_t ranks_twice(algorithm const& a, rank_t ranks) { return steps_unsaved(2 * (ranks - 1), a); }
inline std::uint32_t log_twice(algorithm const& a, rank_t ranks) {
  return steps_unsaved(2 * ceil_log(ranks, radix_taken(a)), a);
}
inline std::uint32_t floor_log_twice(algorithm const& a, rank_t ranks) {
  return steps_unsaved(2 * static_cast<std::uint32_t>(std::bit_width(ranks) - 1), a);
}
inline std::uint32_t log_once(algorithm const& a, rank_t ranks) { return ceil_log(ranks, radix_taken(a)); }
inline std::uint32_t log_of_ports(algorithm const& a, rank_t ranks) {
  return ceil_log(ranks, std::clamp<rank_t>(number_or(a, "n", 1), 1, ranks) + 1);
}

/// What nobody undercuts.
inline constexpr least_steps one_step{[](algorithm const&, rank_t) { return 1u; }, false};
/// Blocks folded in one step, and spread in another; or in so many along each dimension.
inline constexpr least_steps there_and_back{[](algorithm const& a, rank_t) { return steps_unsaved(2, a); }, false};
inline constexpr least_steps twice_each_dimension{dimensions_twice, false}, twice_each_rank{ranks_twice, false},
    twice_log{log_twice, false}, twice_floor_log{floor_log_twice, false};
/// Whole vectors.
inline constexpr least_steps tree_there_and_back{log_twice, true}, once_log{log_once, true},
    once_log_of_ports{log_of_ports, true};

}  // namespace coset::schedule
