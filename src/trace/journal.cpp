// SPDX-License-Identifier: Apache-2.0
#include "trace/journal.hpp"

#include <algorithm>

namespace coset::trace {
namespace {

/// Of a journal that is still written to, so many of the oldest may be overwritten before the number says so.
constexpr std::uint64_t in_doubt = 16;

}  // namespace

journal::journal(std::size_t capacity, unsigned node)
    : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2 * in_doubt)) - 1),
      memory_((mask_ + 1) * sizeof(event)),
      words_(reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.data())) {
  memory_.bind(0, memory_.size(), node);
  // Now, and not while a call is under way.
  for (std::size_t k = 0; k < memory_.size(); k += numa::page_bytes()) memory_.data()[k] = std::byte{};
}

bool journal::meets_anew(std::uint32_t plan) {
  latest_plan_ = plan;
  return known_plans_.insert(plan).second;
}

journal::contents journal::read() const {
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
