// SPDX-License-Identifier: Apache-2.0
// What several tests of schedules ask: a schedule by name, logarithms, and figures that validate() does not report.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule::testing {

inline schedule schedule_of(std::string_view text, rank_t ranks, verb what = verb::allreduce, rank_t root = 0) {
  return make(algorithm::parse(text), ranks, what, root);
}

/// Nothing where the algorithm is not defined for this many ranks.
inline std::optional<schedule> made_if_defined(algorithm const& how, rank_t ranks, verb what, rank_t root = 0) {
  try {
    return make(how, ranks, what, root);
  } catch (schedule_error const&) {
    return std::nullopt;
  }
}

/// ceil(log_base number).
inline std::uint32_t ceil_log(std::uint32_t number, std::uint32_t base = 2) {
  std::uint32_t rounds = 0;
  for (std::uint64_t reach = 1; reach < number; reach *= base) ++rounds;
  return rounds;
}

/// "5+2+4", as the parameter nodes has it.
inline std::string text_of(std::vector<rank_t> const& nodes) {
  std::string text;
  for (rank_t const size : nodes) text += (text.empty() ? "" : "+") + std::to_string(size);
  return text;
}

/// The ranks that `rank` reads from in a step, itself included.
inline std::set<rank_t> read_from(schedule const& made, std::size_t step, rank_t rank) {
  std::set<rank_t> peers;
  for (assignment const& a : made.steps.at(step))
    if (a.rank == rank)
      for (source const& s : made.from(a)) peers.insert(s.rank);
  return peers;
}

}  // namespace coset::schedule::testing
