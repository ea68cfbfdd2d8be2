// SPDX-License-Identifier: Apache-2.0
// Updates that a thread has sorted by parts of the target, for whoever applies them later.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI::detail {

/// Updates without their types, part by part, in the order in which they came: each part has a list of chunks, which come
/// from memory that earlier logs have left. A chunk is a page, as processors prefetch along a page: with chunks of 1 KiB a
/// partition takes a third longer, and lines that are composed in a cache and stored past it save nothing
/// (src/reducer/updates/README.md).
class COSET_API update_chunks {
 public:
  static constexpr std::size_t chunk_bytes = 4096, header_bytes = sizeof(void*);

  update_chunks() noexcept;
  ~update_chunks();
  update_chunks(update_chunks const&) = delete;
  update_chunks& operator=(update_chunks const&) = delete;

  /// Forgets all updates and keeps their memory. Called by the thread whose updates they are, as it places the memory.
  /// Throws std::bad_alloc.
  void begin(std::size_t parts);
  /// Where the part's next update goes, as its chunk is full. Throws std::bad_alloc, and has lost nothing then.
  std::byte* next_chunk(std::size_t part);
  /// [part]: behind its latest update; null before the first.
  std::byte** ends() const noexcept { return ends_; }
  static std::size_t room_behind(std::byte const* end) noexcept {
    return -reinterpret_cast<std::uintptr_t>(end) % chunk_bytes;
  }

  /// take(begin, end) for the updates of each chunk of a part, in order; each has `bytes`.
  template <class Take>
  void for_each_chunk(std::size_t part, std::size_t bytes, Take const& take) const {
    constexpr std::size_t room = chunk_bytes - header_bytes;
    std::byte const* in = firsts_[part];
    while (in != nullptr) {
      std::byte const* next;
      std::memcpy(&next, in, sizeof next);
      std::byte const* const begin = in + header_bytes;
      take(begin, next != nullptr ? begin + room / bytes * bytes : ends_[part]);
      in = next;
    }
  }
  /// Of memory that it has now.
  std::size_t bytes() const noexcept;

 private:
  struct store;
  std::byte** ends_ = nullptr;    ///< [part]
  std::byte** firsts_ = nullptr;  ///< [part]: the first chunk
  std::unique_ptr<store> store_;
};

/// The updates of one thread. Any thread may apply them, once the caller has ordered that after all appending.
template <class Value>
class update_log {
  static constexpr std::size_t value_bytes = std::is_empty_v<Value> ? 0 : sizeof(Value);

 public:
  static constexpr std::size_t record_bytes = value_bytes + sizeof(std::uint32_t);
  /// Eight to a chunk at least.
  static constexpr bool is_possible = std::is_trivially_copyable_v<Value> && record_bytes <= 256;

  /// For targets of `length` elements, in parts of 2^shift, at most 2^32.
  void begin(std::size_t length, unsigned shift) {
    shift_ = shift;
    all_.begin(length == 0 ? 0 : ((length - 1) >> shift) + 1);
  }
  /// Cost: some ten instructions; a call for each chunk.
  void append(std::size_t key, Value const& value) {
    std::size_t const part = key >> shift_;
    auto const within = static_cast<std::uint32_t>(key - (part << shift_));
    std::byte*& end = all_.ends()[part];
    std::byte* at = end;
    if (update_chunks::room_behind(at) < record_bytes) [[unlikely]]
      at = all_.next_chunk(part);
    end = put(at, within, value);
  }

  /// target.apply(key, value) for all updates of a part, in their order.
  template <class Target>
  void apply_part(std::size_t part, Target const& target) const {
    apply_part(all_, part, shift_, target);
  }
  std::size_t bytes() const noexcept { return all_.bytes(); }

  /// For those who have chunks without types. Returns where the next update goes.
  static std::byte* put(std::byte* at, std::uint32_t within, Value const& value) {
    std::memcpy(at, &within, sizeof within);
    if constexpr (value_bytes != 0) std::memcpy(at + sizeof within, &value, sizeof value);
    return at + record_bytes;
  }
  template <class Target>
  static void apply_part(update_chunks const& all, std::size_t part, unsigned shift, Target const& target) {
    std::size_t const first = part << shift;
    all.for_each_chunk(part, record_bytes, [&](std::byte const* at, std::byte const* end) {
      for (; at != end; at += record_bytes) {
        std::uint32_t within;
        std::memcpy(&within, at, sizeof within);
        target.apply(first + within, value_at(at + sizeof within));
      }
    });
  }

 private:
  static Value value_at(std::byte const* at) {
    if constexpr (value_bytes == 0) {
      return Value();
    } else {
      alignas(Value) std::byte copied[sizeof(Value)];
      std::memcpy(copied, at, sizeof copied);
      return *reinterpret_cast<Value*>(copied);
    }
  }

  update_chunks all_;
  unsigned shift_ = 0;
};

}  // namespace coset::detail
