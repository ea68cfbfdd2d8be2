// SPDX-License-Identifier: Apache-2.0
#include "team/use_staging.hpp"

#include "team/team_state.hpp"

namespace coset::team_room {

void use_staging(detail::rank_state& me, std::uint32_t channel, std::size_t bytes) {
  channel_end& end = me.ends[channel];
  staging const& pieces = me.team.arena.staging_for(channel, bytes);
  for (rank_t r = 0; r < me.team.ranks; ++r) {
    for (std::uint32_t parity : {0u, 1u})
      end.bases[(program::row_staging + parity) * me.team.ranks + r] = pieces.at(r, parity);
  }
  end.capacity = arena::capacity_for(bytes);
}

}  // namespace coset::team_room
