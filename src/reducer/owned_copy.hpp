// SPDX-License-Identifier: Apache-2.0
// One private copy with its memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "coset/detail/line_spacing.hpp"
#include "coset/detail/private_copy.hpp"
#include "coset/updates/log.hpp"
#include "numa/kinds.hpp"
#include "numa/memory.hpp"

namespace coset::reducer_room {

inline constexpr std::size_t line_bytes = 64;
constexpr std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// How a sparse reducer's array is cut: the last block may be shorter.
struct blocks {
  std::size_t count = 0;  ///< of the array
  std::size_t element_bytes = 1;
  unsigned shift = 0;  ///< a block has 2^shift elements

  std::size_t number() const noexcept { return count == 0 ? 0 : ((count - 1) >> shift) + 1; }
  std::size_t block_bytes() const noexcept { return element_bytes << shift; }
  std::size_t begin(std::size_t block) const noexcept { return std::min(count, block << shift); }
  std::size_t begin_bytes(std::size_t block) const noexcept { return begin(block) * element_bytes; }
  std::size_t groups() const noexcept { return (number() + blocks_of_group - 1) / blocks_of_group; }

  static constexpr std::size_t blocks_of_group = std::size_t{1} << detail::group_shift;
};

/// Updates that a thread keeps for later.
struct kept_updates {
  struct part {
    std::size_t chunks = 0;
    /// Of some updates of each full chunk the last bits of their block's number, as a set. Says whether the same few blocks
    /// come again and again.
    std::uint64_t seen = 0;
    std::size_t looks = 0;  ///< so many updates
  };
  detail::update_chunks all;
  std::vector<part> parts;
  std::size_t chunks_left = 0, chunks_granted = 0;  ///< until something has to be done about their memory; of so many
  std::size_t applied = 0;                          ///< updates, early
};

/// Tables are read by words of eight blocks; what is beyond the last block is never touched.
inline constexpr std::size_t word_blocks = 8;

struct owned_copy : detail::private_copy {
  /// For threads on this node, by the system's number, if the system allows it: so many bytes of arbitrary contents.
  owned_copy(std::size_t bytes, std::optional<unsigned> on_node, memory_kind kind = memory_kind::standard);
  /// For a sparse reducer: without memory, see give_memory().
  explicit owned_copy(std::optional<unsigned> on_node, memory_kind kind = memory_kind::standard);
  ~owned_copy();  // once in the library, not at each place where one may end
  owned_copy(owned_copy const&) = delete;
  owned_copy& operator=(owned_copy const&) = delete;

  /// Fresh pages for the blocks, and marks behind them. For a copy that has none.
  void give_memory(blocks const&, bool capped);
  /// False where the system does not bind memory, or the node is not known.
  bool bind(numa::memory& fresh) const noexcept;
  /// Marks as many blocks from this one on. Threads that own neighbouring blocks of a total may mark their common group at
  /// the same time: relaxed, as all write the same and the next to read does so after they have met.
  void mark_touched(std::size_t first, std::size_t count) noexcept {
    if (count == 0) return;
    std::memset(touched + first, static_cast<int>(detail::mark::touched), count);
    std::size_t const last = (first + count - 1) >> detail::group_shift;
    for (std::size_t group = first >> detail::group_shift; group <= last; ++group)
      std::atomic_ref(groups[group]).store(detail::mark::touched, std::memory_order_relaxed);
  }

  static constexpr std::uint32_t no_number = ~std::uint32_t{0};
  std::uint32_t number = no_number;
  std::optional<unsigned> node;  ///< of the threads that may have it
  memory_kind kind;
  std::uint64_t claimed_under = 0;     ///< the key; guarded as the list of copies is
  void const* claimed_by = nullptr;    ///< the thread
  std::vector<std::uint8_t> resident;  ///< capped only: [block]: its pages are claimed
  std::size_t claimed = 0;             ///< capped only: bytes
  std::unique_ptr<kept_updates> kept;  ///< null until its thread keeps some
  bool is_under_way = false;           ///< in split phase; its thread's
  bool is_plain = false;               ///< its thread has asked for plain memory, and keeps no updates
  /// For a numbered copy: round << 16 | the parts that its thread has folded in this round, or given_up. On a line of
  /// its own, as the next thread waits for it.
  alignas(detail::line_spacing) std::atomic<std::uint64_t> turn = 0;

  numa::memory memory;
};

}  // namespace coset::reducer_room
