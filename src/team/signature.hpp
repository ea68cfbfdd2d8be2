// SPDX-License-Identifier: Apache-2.0
// What the ranks of a team must agree on in each operation.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/schedule.hpp"
#include "team/lines.hpp"

namespace coset::team_room {

struct signature {
  schedule::collective verb;
  detail::reduction_table const* reduction;
  std::uint64_t count;
  rank_t root;
  bool in_place;
  std::uint32_t plan = 0;  ///< distinguishes explicit plans; 0 where the library chose

  /// Goes into the tag. Ranks with equal signatures get equal hashes; different ones collide once in 2^32.
  std::uint32_t hash() const;
  /// "allreduce of 1000 float (plus), in place"
  std::string text() const;

  void describe(described_signature&) const noexcept;
  static std::string text_of(described_signature const&);
};

}  // namespace coset::team_room
