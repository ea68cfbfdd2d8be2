// SPDX-License-Identifier: Apache-2.0
// The latest events of one thread.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <optional>
#include <unordered_set>
#include <vector>

#include "numa/memory.hpp"
#include "runtime/trace/event.hpp"

namespace coset::trace {

/// Whose journal it is.
struct owner {
  std::uint32_t root_team = 0;     ///< number in its process of the team whose rank the thread is
  rank_t thread = 0;               ///< its rank there
  std::atomic<rank_t> number = 0;  ///< its rank in the largest team that it has been in, and that team's size
  std::atomic<rank_t> size = 0;
};

/// Written by one thread; read by any, also meanwhile. So its words are atomic, which costs nothing.
class journal {
 public:
  /// Room for `capacity` events, rounded up to a power of two, on that node or anywhere.
  static numa::memory ring_for(std::size_t capacity, std::optional<unsigned> node);
  static std::size_t ring_bytes(std::size_t capacity) noexcept;

  /// As many of the latest events are kept as the ring has room for.
  explicit journal(numa::memory ring);

  void push(event const& what) noexcept {
    std::uint64_t const at = written_.load(std::memory_order_relaxed);
    auto const words = std::bit_cast<line>(what);
    std::atomic<std::uint64_t>* const to = words_ + (at & mask_) * words.size();
    for (std::size_t k = 0; k < words.size(); ++k) to[k].store(words[k], std::memory_order_relaxed);
    // Partner: read().
    written_.store(at + 1, std::memory_order_release);
  }
  void count_moved(level how, std::uint64_t bytes) noexcept {
    auto& sum = moved_[static_cast<std::size_t>(how)];
    sum.store(sum.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  /// Whether the thread meets this plan for the first time.
  bool meets(std::uint32_t plan) { return plan != latest_plan_ && meets_anew(plan); }

  struct contents {
    std::vector<event> events;  ///< in the order in which they ended
    std::uint64_t dropped;      ///< so many before them
  };
  contents read() const;
  /// Nothing is written any more: what is there is kept elsewhere. Returns the ring. Not while others read().
  numa::memory close();
  std::uint64_t moved(level how) const noexcept {
    return moved_[static_cast<std::size_t>(how)].load(std::memory_order_relaxed);
  }

  owner of;

 private:
  using line = std::array<std::uint64_t, sizeof(event) / sizeof(std::uint64_t)>;
  bool meets_anew(std::uint32_t plan);

  contents of_ring() const;

  std::uint64_t const mask_;
  numa::memory memory_;
  std::atomic<std::uint64_t>* words_;
  std::optional<contents> kept_;
  std::uint32_t latest_plan_ = 0;
  std::unordered_set<std::uint32_t> known_plans_;
  alignas(64) std::atomic<std::uint64_t> written_ = 0;
  std::array<std::atomic<std::uint64_t>, level_names.size()> moved_{};
};

}  // namespace coset::trace
