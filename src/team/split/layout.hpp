// SPDX-License-Identifier: Apache-2.0
// Who belongs to which part of a team, and where in it. Arithmetic alone: all ranks compute the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "planning/program/program.hpp"

namespace coset::team_room {

/// What each rank tells the others when a team is split.
struct wish {
  std::int64_t colour;
  int key;
  rank_t in_origin;      ///< its number in the team of all processes, if there is one
  std::uint32_t latest;  ///< the highest number of any part to which its thread has belonged
};

/// The ranks of one colour, in the order of (key, rank).
std::vector<rank_t> ranks_of(std::int64_t colour, std::span<wish const>);
std::map<std::int64_t, std::vector<rank_t>> ranks_of_each_colour(std::span<wish const>);

/// A part of a team over processes.
struct layout {
  std::vector<rank_t> in_whole;            ///< [rank of the part]: its number in the team
  program::distribution spread;            ///< ranks that follow each other where memory is shared are one domain
  std::vector<char> of_several_processes;  ///< [domain]
  std::optional<rank_t> silent;  ///< number in the team: the first of ranks that no rank of theirs can send for

  bool shares_memory_between_processes() const;
};

/// `whole`: how the team is spread; `by_domain`: ranks of its domains share memory in the part, too, else only those of one
/// process. Unless any rank may send, the first of each process does for the domain that it is in.
layout lay_out(std::vector<rank_t> in_whole, program::distribution const& whole, bool by_domain, bool any_rank_sends);

bool is_one_process(std::span<rank_t const> in_whole, program::distribution const& whole);

}  // namespace coset::team_room
