// SPDX-License-Identifier: Apache-2.0
// The team's own memory: lines and staging, each rank's part on its node, addressed by offsets.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "coset/topology.hpp"
#include "numa/kinds.hpp"
#include "numa/memory.hpp"
#include "runtime/memory/lines.hpp"

namespace coset::runtime {

/// Nodes of the ranks as OS indices; `anywhere` where a rank's memory is placed by first touch.
using node_list = std::vector<unsigned>;
inline constexpr unsigned anywhere = numa::any_node;

/// Staging of one channel: two parities for each rank.
class staging {
 public:
  staging(node_list const& nodes, std::size_t capacity, memory_kind);
  /// In existing memory of bytes_for() bytes.
  staging(std::byte* memory, std::size_t capacity);
  static std::size_t bytes_for(std::size_t ranks, std::size_t capacity);

  std::byte* at(rank_t rank, std::uint32_t parity) const noexcept;

 private:
  std::size_t half_bytes_, rank_bytes_;
  numa::memory memory_;
  std::byte* begin_;
};

class arena {
 public:
  /// Staging and views are memory of the kind given.
  explicit arena(node_list const& nodes, memory_kind = memory_kind::automatic);
  /// For processes that share `shared`: bytes_for() bytes, zeroed before the first process uses them. Staging cannot
  /// grow.
  arena(node_list const& nodes, numa::memory shared);
  static std::size_t bytes_for(node_list const& nodes, std::size_t staging_capacity);

  failure_record& failure() const noexcept { return *reinterpret_cast<failure_record*>(memory_.data()); }
  channel_lines& lines(std::uint32_t channel, rank_t rank) const noexcept;
  attention_line& attention(rank_t rank) const noexcept;
  own_line& own(rank_t rank) const noexcept;
  small_view& own_view(rank_t rank) const noexcept;

  /// Staging of at least `bytes` per rank and parity. Every rank that asks for the same channel and size gets the same;
  /// made by the first, under a lock; what has once been made stays until the team ends, as slower ranks may use it.
  /// Throws std::bad_alloc, and leaves all as it was.
  staging const& staging_for(std::uint32_t channel, std::size_t bytes);
  std::size_t largest_staging() const noexcept { return largest_staging_; }

  /// Of staging and views so far. Only while no rank runs.
  std::size_t grown_bytes() const;

  /// Where memory made for this rank from now on belongs: adopted ranks are on no node before they join.
  void settle(rank_t, unsigned node);

  enum class readers : bool { rank, node };
  /// Memory for results that this rank, or all ranks of its node, read where they lie; by the same rules.
  std::byte* view_for(rank_t of, readers who, std::size_t bytes);

  /// Sizes are powers of two from 64 KiB, so that ranks agree on when to grow without a word.
  static std::size_t capacity_for(std::size_t bytes) noexcept;

 private:
  struct home {
    std::size_t offset;      ///< of the section of the rank's node
    std::size_t index;       ///< of the rank among those of its node
    std::size_t neighbours;  ///< ranks of that node
  };
  struct section {
    unsigned node;
    std::size_t begin, end;
  };
  arena(node_list nodes, numa::memory memory, bool grows, memory_kind);
  std::byte* section_of(rank_t rank) const noexcept { return memory_.data() + homes_[rank].offset; }

  node_list nodes_;
  std::vector<home> homes_;
  std::vector<section> sections_;
  numa::memory memory_;
  bool const grows_;
  memory_kind const kind_;
  std::size_t largest_staging_ = std::numeric_limits<std::size_t>::max();
  std::mutex growing_;
  std::map<std::pair<std::uint32_t, std::size_t>, staging> stagings_;
  std::map<std::tuple<rank_t, readers, std::size_t>, numa::memory> views_;

  static std::vector<section> sections_for(node_list const&);
};

}  // namespace coset::runtime
