// SPDX-License-Identifier: Apache-2.0
// Folding stretches of copies into arrays, or into the total.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reducer/core.hpp"

namespace coset::reducer_room {

/// Elements, blocks or parts [begin, end).
struct interval {
  std::size_t begin = 0, end = 0;
};

/// Elements of one of `slices` slices of an array: whole lines of it.
inline interval slice_of(part_of_copy const& part, std::size_t slice, std::size_t slices) {
  std::size_t const count = part.array.count, unit = std::max<std::size_t>(64 / part.element_bytes(), 1);
  std::size_t const units = (count + unit - 1) / unit;
  auto const boundary = [&](std::size_t k) { return std::min(units * k / slices * unit, count); };
  return {boundary(slice), boundary(slice + 1)};
}

/// The bytes folded and emptied at a time: they stay in the cache in between.
inline constexpr std::size_t chunk_bytes = 2048;

/// Folds copies into arrays, or into the total, in the reducer's mode as long as it exists. The target's values are the first source unless they are replaced; in
/// the end the target holds everything. Copies are empty where they were folded.
class chunks {
 public:
  /// Folds up to `most` copies at a time.
  chunks(detail::reducer_core& core, void* const* into, combining how, std::size_t most)
      : mode_(core.mode(), core.computes()),
        core_(core),
        into_(into),
        how_(how),
        total_(into == nullptr ? &core.total() : nullptr) {
    if (most >= few_.size()) many_.resize(most + 1);
    sources_ = most >= few_.size() ? many_.data() : few_.data();
  }

  owned_copy* total() const { return total_; }
  std::byte* to(std::size_t array) const {
    return total_ != nullptr ? total_->data + core_.parts()[array].offset : static_cast<std::byte*>(into_[array]);
  }

  bool counts(owned_copy const& copy) const { return copy.generation == core_.generation(); }
  /// Whether the target's old values are no source.
  bool replaces() const { return total_ == nullptr && how_ == combining::assign; }

  /// Elements [begin, end) of one array, of those copies that count.
  void fold(std::span<owned_copy* const> of, std::size_t array, std::size_t begin, std::size_t end) {
    fold(of, array, begin, end, replaces());
  }
  /// The same; in turns the first thread replaces, the others add.
  void fold(std::span<owned_copy* const> of, std::size_t array, std::size_t begin, std::size_t end, bool replacing) {
    part_of_copy const& part = core_.parts()[array];
    std::size_t const chunk = std::max<std::size_t>(chunk_bytes / part.element_bytes(), 1);
    for (std::size_t at = begin; at < end; at += chunk)
      fold_chunk(of, part, to(array), at, std::min(chunk, end - at), replacing);
  }

 private:
  void fold_chunk(std::span<owned_copy* const> of, part_of_copy const& part, std::byte* target, std::size_t begin,
                  std::size_t count, bool replacing) {
    std::size_t const first = begin * part.element_bytes(), offset = part.offset + first;
    void* const to = target + first;
    std::uint32_t sources = 0;
    if (total_ == nullptr && !replacing) sources_[sources++] = to;
    for (owned_copy const* const copy : of)
      if (counts(*copy)) sources_[sources++] = copy->data + offset;
    auto const& array = part.array;
    if (sources == 0) return array.fill(array.identity.get(), part.element_bytes(), to, count);
    if (sources > 1 || sources_[0] != to)
      array.reduction->folds->for_sources(sources)(array.operation.get(), &to, 1, sources_, sources, count);
    if (core_.tracking() == detail::tracking::fills_late) return;
    for (owned_copy const* const copy : of)
      if (copy != total_ && counts(*copy)) part.fill(copy->data, begin, count);
  }

  runtime::computing_in const mode_;
  detail::reducer_core& core_;
  void* const* const into_;
  combining const how_;
  owned_copy* const total_;          ///< null if it is not the target
  std::array<void const*, 32> few_;  ///< allocating takes as long as folding a small array
  std::vector<void const*> many_;
  void const** sources_;
};

/// How many blocks these updates of a part have touched, at a guess.
std::size_t blocks_of(detail::reducer_core const&, owned_copy const&, std::size_t part, std::size_t updates);

/// Folds part `part` of `parts` of the copies of a reducer that tracks blocks, and of the updates that its threads keep: first
/// what the target, the total and the copies hold, in this order, then updates, copy by copy, in their order.
void fold_tracked(detail::reducer_core&, void* const* into, combining, std::size_t part, std::size_t parts);

}  // namespace coset::reducer_room
