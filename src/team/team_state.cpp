// SPDX-License-Identifier: Apache-2.0
#include "team/team_state.hpp"

#include <algorithm>

#include "numa/binding.hpp"
#include "team/gathering.hpp"
#include "team/use_staging.hpp"
#include "team/workers.hpp"

namespace coset::detail {

using namespace team_room;

rank_state::rank_state(team_state& shared, rank_t self) : team(shared), rank(self), from(shared.ranks + 1), to(shared.ranks + 1) {
  if (self < shared.places.size()) node = shared.places[self].node;
  for (std::uint32_t c = 0; c < channels; ++c) {
    channel_end& end = ends[c];
    end.bases.resize(program::rows * std::size_t{shared.ranks});
    for (rank_t r = 0; r < shared.ranks; ++r) {
      end.lines.push_back(&shared.arena.lines(c, r));
      for (std::uint32_t parity : {0u, 1u}) {
        entry_line& line = end.lines[r]->entry[parity];
        end.bases[(program::row_entry_line + parity) * shared.ranks + r] = line.payload.data();
        end.bases[(program::row_second_line + parity) * shared.ranks + r] = line.second.data();
      }
    }
  }
}

team_state::team_state(rank_t count, team_options wanted, std::vector<processor> where, std::vector<unsigned> const& nodes_of_ranks, bool pins)
    : ranks(count),
      options(std::move(wanted)),
      places(std::move(where)),
      pinned(pins),
      patience(patience::of(options.wait, count > numa::usable_processors())),
      arena(nodes_of_ranks),
      members(count) {}

team_state::~team_state() = default;

void team_state::begin_generation() {
  if (++generation == 0) generation = 1;  // 0 means "has left nothing"
  salt = generation * 0x9E3779B9u;
  failure.clear();
  for (std::uint32_t c = 0; c < channels; ++c) {
    std::uint32_t epoch = members[0]->ends[c].epoch;
    std::uint64_t base = 0;
    std::size_t capacity = c == 0 ? reserved_bytes : 0;
    for (auto const& m : members) {
      channel_end const& end = m->ends[c];
      if (static_cast<std::int32_t>(end.epoch - epoch) > 0) epoch = end.epoch;
      base = std::max(base, end.base);
      capacity = std::max(capacity, end.capacity);
    }
    for (auto const& m : members) {
      channel_end& end = m->ends[c];
      end.epoch = epoch;
      end.base = base;
      end.peers_entered = true;
      end.readers = {};
      if (capacity > end.capacity) use_staging(*m, c, capacity);
    }
  }
}

void team_state::quiesce(rank_t self) const noexcept {
  for (rank_t q = 0; q < ranks; ++q) {
    if (q == self) continue;
    while (arena.own(q).busy.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();  // partner: busy_mark
  }
}

void team_state::fail(cause why, std::string reason, std::exception_ptr original) noexcept {
  failure.record(why, std::move(reason), std::move(original));
  for (rank_t q = 0; q < ranks; ++q) {
    if (arena.attention(q).sleepers.load(std::memory_order_seq_cst) == 0) continue;
    for (std::uint32_t c = 0; c < channels; ++c) {
      channel_lines& lines = arena.lines(c, q);
      for (entry_line& line : lines.entry) wake(line.tag, half::high);
      wake(lines.progress.posted, half::low);
    }
  }
}

}  // namespace coset::detail
