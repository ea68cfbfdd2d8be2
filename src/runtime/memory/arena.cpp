// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/arena.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace coset::runtime {
namespace {

constexpr std::size_t smallest_staging = 64 * 1024;

std::size_t whole_pages(std::size_t bytes) {
  std::size_t const page = numa::page_bytes();
  return (bytes + page - 1) / page * page;
}

/// Per rank: the lines of all channels, what others write to it, what it alone writes, and its small view.
constexpr std::size_t rank_line_bytes =
    channels * sizeof(channel_lines) + sizeof(attention_line) + sizeof(own_line) + sizeof(small_view);

/// Equal offsets in large powers of two meet in the same cache sets: each piece starts some lines further on.
std::size_t skew(rank_t rank, std::uint32_t parity) { return (2 * rank + parity) * 5 % 64 * line_bytes; }
constexpr std::size_t largest_skew = 64 * line_bytes;

std::size_t rank_staging_bytes(std::size_t capacity) { return whole_pages(2 * (capacity + largest_skew)); }

}  // namespace

staging::staging(node_list const& nodes, std::size_t capacity, memory_kind kind)
    : half_bytes_(capacity + largest_skew),
      rank_bytes_(rank_staging_bytes(capacity)),
      memory_(rank_bytes_ * nodes.size()),
      begin_(memory_.data()) {
  for (std::size_t r = 0; r < nodes.size(); ++r) numa::bind(memory_, r * rank_bytes_, rank_bytes_, nodes[r], kind);
}

staging::staging(std::byte* memory, std::size_t capacity)
    : half_bytes_(capacity + largest_skew), rank_bytes_(rank_staging_bytes(capacity)), begin_(memory) {}

std::size_t staging::bytes_for(std::size_t ranks, std::size_t capacity) { return ranks * rank_staging_bytes(capacity); }

std::byte* staging::at(rank_t rank, std::uint32_t parity) const noexcept {
  return begin_ + rank * rank_bytes_ + parity * half_bytes_ + skew(rank, parity);
}

/// After a page for the record of failures, one section for each node that ranks are on.
std::vector<arena::section> arena::sections_for(node_list const& nodes) {
  node_list distinct = nodes;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<section> sections;
  std::size_t begin = whole_pages(sizeof(failure_record));
  for (unsigned node : distinct) {
    auto const ranks = static_cast<std::size_t>(std::count(nodes.begin(), nodes.end(), node));
    std::size_t const end = begin + whole_pages(ranks * rank_line_bytes);
    sections.push_back({node, begin, end});
    begin = end;
  }
  return sections;
}

std::size_t arena::bytes_for(node_list const& nodes, std::size_t staging_capacity) {
  return sections_for(nodes).back().end + channels * staging::bytes_for(nodes.size(), staging_capacity);
}

arena::arena(node_list const& nodes, memory_kind kind)
    : arena(nodes, numa::memory(sections_for(nodes).back().end), true, numa::resolved(kind, memory_kind::low_latency)) {
}

arena::arena(node_list const& nodes, numa::memory shared)
    : arena(nodes, std::move(shared), false, memory_kind::low_latency) {
  std::size_t const begin = sections_.back().end;
  std::size_t const channel_bytes = (memory_.size() - begin) / channels;
  largest_staging_ = channel_bytes / nodes_.size() / 2 - largest_skew;
  for (std::uint32_t c = 0; c < channels; ++c) {
    stagings_.try_emplace({c, capacity_for(1)}, memory_.data() + begin + c * channel_bytes, largest_staging_);
  }
}

arena::arena(node_list nodes, numa::memory memory, bool grows, memory_kind kind)
    : nodes_(std::move(nodes)),
      homes_(nodes_.size()),
      sections_(sections_for(nodes_)),
      memory_(std::move(memory)),
      grows_(grows),
      kind_(kind) {
  for (section const& s : sections_) {
    auto const ranks = static_cast<std::size_t>(std::count(nodes_.begin(), nodes_.end(), s.node));
    std::size_t index = 0;
    for (std::size_t r = 0; r < nodes_.size(); ++r) {
      if (nodes_[r] == s.node) homes_[r] = {s.begin, index++, ranks};
    }
    numa::bind(memory_, s.begin, s.end - s.begin, s.node, memory_kind::low_latency);
  }
  // Zeroed pages are valid lines: tag 0 is no epoch, progress 0 no signal, generation 0 left by nobody, no failure.
}

channel_lines& arena::lines(std::uint32_t channel, rank_t rank) const noexcept {
  home const& h = homes_[rank];
  return reinterpret_cast<channel_lines*>(section_of(rank))[channel * h.neighbours + h.index];
}

attention_line& arena::attention(rank_t rank) const noexcept {
  home const& h = homes_[rank];
  return reinterpret_cast<attention_line*>(section_of(rank) + channels * h.neighbours * sizeof(channel_lines))[h.index];
}

own_line& arena::own(rank_t rank) const noexcept {
  home const& h = homes_[rank];
  std::size_t const before = h.neighbours * (channels * sizeof(channel_lines) + sizeof(attention_line));
  return reinterpret_cast<own_line*>(section_of(rank) + before)[h.index];
}

small_view& arena::own_view(rank_t rank) const noexcept {
  home const& h = homes_[rank];
  std::size_t const before = h.neighbours * (rank_line_bytes - sizeof(small_view));
  return reinterpret_cast<small_view*>(section_of(rank) + before)[h.index];
}

std::size_t arena::capacity_for(std::size_t bytes) noexcept { return std::bit_ceil(std::max(bytes, smallest_staging)); }

staging const& arena::staging_for(std::uint32_t channel, std::size_t bytes) {
  std::lock_guard const lock(growing_);
  constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 8;  // doubled, rounded, and with skews
  if (grows_ && bytes > most_bytes / nodes_.size()) throw std::bad_alloc();
  std::size_t const capacity = capacity_for(grows_ ? bytes : 1);
  return stagings_.try_emplace({channel, capacity}, nodes_, capacity, kind_).first->second;
}

void arena::settle(rank_t rank, unsigned node) {
  std::lock_guard const lock(growing_);
  nodes_[rank] = node;
}

std::size_t arena::grown_bytes() const {
  std::size_t sum = 0;
  for (auto const& [made, of] : stagings_) sum += staging::bytes_for(homes_.size(), made.second);
  for (auto const& [made, of] : views_) sum += std::get<std::size_t>(made);
  return sum;
}

std::byte* arena::view_for(rank_t of, readers who, std::size_t bytes) {
  std::lock_guard const lock(growing_);
  std::size_t const capacity = capacity_for(bytes);
  auto const [at, made] = views_.try_emplace({of, who, capacity}, capacity);
  if (made) numa::bind(at->second, 0, capacity, nodes_[of], kind_);
  return at->second.data();
}

}  // namespace coset::runtime
