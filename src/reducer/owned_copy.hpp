// SPDX-License-Identifier: Apache-2.0
// One private copy with its memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "coset/detail/line_spacing.hpp"
#include "coset/detail/private_copy.hpp"
#include "numa/memory.hpp"

namespace coset::reducer_room {

/// How a sparse reducer's array is cut: the last block may be shorter.
struct blocks {
  std::size_t count = 0;  ///< of the array
  std::size_t element_bytes = 1;
  unsigned shift = 0;  ///< a block has 2^shift elements

  std::size_t number() const noexcept { return count == 0 ? 0 : ((count - 1) >> shift) + 1; }
  std::size_t block_bytes() const noexcept { return element_bytes << shift; }
  std::size_t begin(std::size_t block) const noexcept { return std::min(count, block << shift); }
  std::size_t begin_bytes(std::size_t block) const noexcept { return begin(block) * element_bytes; }
};

/// Tables are read by words of eight blocks; what is beyond the last block is never touched.
inline constexpr std::size_t word_blocks = 8;

struct owned_copy : detail::private_copy {
  /// On this node, by the system's number, if the system allows it: so many bytes of arbitrary contents; for sparse
  /// reducers, fresh pages followed by the marks.
  owned_copy(std::size_t bytes, std::optional<unsigned> on_node);
  owned_copy(blocks const&, std::optional<unsigned> on_node, bool capped);
  owned_copy(owned_copy const&) = delete;
  owned_copy& operator=(owned_copy const&) = delete;

  static constexpr std::uint32_t no_number = ~std::uint32_t{0};
  std::uint32_t number = no_number;
  std::optional<unsigned> node;
  std::uint64_t claimed_under = 0;     ///< the key; guarded as the list of copies is
  void const* claimed_by = nullptr;    ///< the thread
  std::vector<std::uint8_t> resident;  ///< capped only: [block]: its pages are claimed
  std::size_t claimed = 0;             ///< capped only: bytes
  /// For a numbered copy: round << 16 | the parts that its thread has folded in this round, or given_up. On a line of
  /// its own, as the next thread waits for it.
  alignas(detail::line_spacing) std::atomic<std::uint64_t> turn = 0;

  numa::memory memory;
};

}  // namespace coset::reducer_room
