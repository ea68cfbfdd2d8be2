// SPDX-License-Identifier: Apache-2.0
#include "team/arena.hpp"

#include <algorithm>
#include <bit>

namespace coset::team_room {
namespace {

constexpr std::size_t smallest_staging = 64 * 1024;

std::size_t whole_pages(std::size_t bytes) {
  std::size_t const page = numa::page_bytes();
  return (bytes + page - 1) / page * page;
}

/// Per rank: the lines of all channels, what others write to it, and what it alone writes.
constexpr std::size_t rank_line_bytes = channels * sizeof(channel_lines) + sizeof(attention_line) + sizeof(own_line);

/// Equal offsets in large powers of two meet in the same cache sets: each piece starts some lines further on.
std::size_t skew(rank_t rank, std::uint32_t parity) { return (2 * rank + parity) * 5 % 64 * line_bytes; }

}  // namespace

staging::staging(node_list const& nodes, std::size_t capacity)
    : half_bytes_(capacity + 64 * line_bytes), rank_bytes_(whole_pages(2 * half_bytes_)), memory_(rank_bytes_ * nodes.size()) {
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    if (nodes[r] != anywhere) memory_.bind(r * rank_bytes_, rank_bytes_, nodes[r]);
  }
}

std::byte* staging::at(rank_t rank, std::uint32_t parity) const noexcept {
  return memory_.data() + rank * rank_bytes_ + parity * half_bytes_ + skew(rank, parity);
}

arena::arena(node_list nodes) : nodes_(std::move(nodes)), homes_(nodes_.size()) {
  std::vector<unsigned> distinct = nodes_;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::size_t bytes = 0;
  std::vector<std::size_t> begin;
  for (unsigned node : distinct) {
    auto const ranks = static_cast<std::size_t>(std::count(nodes_.begin(), nodes_.end(), node));
    std::size_t index = 0;
    for (std::size_t r = 0; r < nodes_.size(); ++r) {
      if (nodes_[r] == node) homes_[r] = {bytes, index++, ranks};
    }
    begin.push_back(bytes);
    bytes += whole_pages(ranks * rank_line_bytes);
  }
  memory_ = numa::memory(bytes);
  begin.push_back(bytes);
  for (std::size_t k = 0; k < distinct.size(); ++k) {
    if (distinct[k] != anywhere) memory_.bind(begin[k], begin[k + 1] - begin[k], distinct[k]);
  }
  // Zeroed pages are valid lines: tag 0 is no epoch, progress 0 no post, generation 0 left by nobody.
}

channel_lines& arena::lines(std::uint32_t channel, rank_t rank) const noexcept {
  home const& h = homes_[rank];
  return reinterpret_cast<channel_lines*>(section(rank))[channel * h.neighbours + h.index];
}

attention_line& arena::attention(rank_t rank) const noexcept {
  home const& h = homes_[rank];
  return reinterpret_cast<attention_line*>(section(rank) + channels * h.neighbours * sizeof(channel_lines))[h.index];
}

own_line& arena::own(rank_t rank) const noexcept {
  home const& h = homes_[rank];
  std::size_t const before = h.neighbours * (channels * sizeof(channel_lines) + sizeof(attention_line));
  return reinterpret_cast<own_line*>(section(rank) + before)[h.index];
}

std::size_t arena::capacity_for(std::size_t bytes) noexcept { return std::bit_ceil(std::max(bytes, smallest_staging)); }

staging const& arena::staging_for(std::uint32_t channel, std::size_t bytes) {
  std::lock_guard const lock(growing_);
  std::size_t const capacity = capacity_for(bytes);
  return stagings_.try_emplace({channel, capacity}, nodes_, capacity).first->second;
}

}  // namespace coset::team_room
