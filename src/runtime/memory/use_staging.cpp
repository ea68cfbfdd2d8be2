// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/use_staging.hpp"

namespace coset::runtime {

void open_channel(detail::rank_state& me, std::uint32_t channel) {
  channel_end& end = me.ends[channel];
  rank_t const ranks = me.shared.ranks;
  if (!end.lines.empty()) return;
  end.bases.resize(program::rows * std::size_t{ranks});
  end.lines.reserve(ranks);
  for (rank_t r = 0; r < ranks; ++r) {
    end.lines.push_back(&me.shared.arena.lines(channel, r));
    for (std::uint32_t parity : {0u, 1u}) {
      entry_line& line = end.lines[r]->entry[parity];
      end.bases[(program::row_entry_line + parity) * ranks + r] = line.payload.data();
      end.bases[(program::row_second_line + parity) * ranks + r] = line.second.data();
    }
  }
}

void use_staging(detail::rank_state& me, std::uint32_t channel, std::size_t bytes) {
  open_channel(me, channel);
  channel_end& end = me.ends[channel];
  staging const& pieces = me.shared.arena.staging_for(channel, bytes);
  for (rank_t r = 0; r < me.shared.ranks; ++r) {
    for (std::uint32_t parity : {0u, 1u})
      end.bases[(program::row_staging + parity) * me.shared.ranks + r] = pieces.at(r, parity);
  }
  end.capacity = arena::capacity_for(bytes);
}

}  // namespace coset::runtime
