// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/journal.hpp"

#include <algorithm>
#include <utility>

namespace coset::trace {
namespace {

/// Of a journal that is still written to, so many of the oldest may be overwritten before the number says so.
constexpr std::uint64_t in_doubt = 16;

}  // namespace

std::size_t journal::ring_bytes(std::size_t capacity) noexcept {
  return std::bit_ceil(std::max<std::size_t>(capacity, 2 * in_doubt)) * sizeof(event);
}

numa::memory journal::ring_for(std::size_t capacity, std::optional<unsigned> node) {
  numa::memory ring(ring_bytes(capacity));
  if (node) {
    ring.bind(0, ring.size(), *node);
  } else {
    ring.prefer_huge_pages(0, ring.size());
  }
  // Now, and not while a call is under way.
  for (std::size_t k = 0; k < ring.size(); k += numa::page_bytes()) ring.data()[k] = std::byte{};
  return ring;
}

journal::journal(numa::memory ring)
    : mask_(ring.size() / sizeof(event) - 1),
      memory_(std::move(ring)),
      words_(reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.data())) {}

bool journal::meets_anew(std::uint32_t plan) {
  latest_plan_ = plan;
  return known_plans_.insert(plan).second;
}

journal::contents journal::read() const { return kept_ ? *kept_ : of_ring(); }

numa::memory journal::close() {
  if (kept_) return {};
  kept_ = of_ring();
  known_plans_.clear();
  words_ = nullptr;
  return std::move(memory_);
}

journal::contents journal::of_ring() const {
  std::uint64_t const capacity = mask_ + 1;
  // Partner: push().
  std::uint64_t const end = written_.load(std::memory_order_acquire);
  std::uint64_t begin = end > capacity ? end - capacity : 0;
  std::vector<event> events;
  events.reserve(end - begin);
  for (std::uint64_t at = begin; at < end; ++at) {
    line words;
    for (std::size_t k = 0; k < words.size(); ++k)
      words[k] = words_[(at & mask_) * words.size() + k].load(std::memory_order_relaxed);
    events.push_back(std::bit_cast<event>(words));
  }
  std::uint64_t const now = written_.load(std::memory_order_acquire);
  if (now != end && now + in_doubt > capacity + begin) {
    std::uint64_t const lost = std::min(now + in_doubt - capacity - begin, end - begin);
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(lost));
    begin += lost;
  }
  return {std::move(events), begin};
}

}  // namespace coset::trace
