// SPDX-License-Identifier: Apache-2.0
// The erased reducer beneath the typed one: private copies of an array, block by block, and their fold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "coset/detail/reduction.hpp"
#include "coset/visibility.h"

namespace coset {

/// How a reducer keeps its private copies.
struct reducer_options {
  /// What is tracked as touched or not, in bytes; becomes a power of two of elements. What a thread has not touched
  /// costs it neither memory nor time; but each access marks its block. Arrays of one block are not tracked. 0: arrays
  /// of up to 16 MiB are one block; then 512 B, and a cache line from 64 MiB on, where misses cost more than marks.
  std::size_t block_bytes = 0;
  /// Most memory of all private copies together, in bytes; 0: as much as they need. A thread that wants more than is
  /// left folds what it holds into a total that all share, under locks, and goes on with its pages given back. The
  /// order of such folds is not fixed, so neither are the bits of sums of floating point; blocks are pages then. 64
  /// KiB per thread are always granted, and the shared total is not counted.
  std::size_t most_bytes = 0;
};

namespace detail {

class reducer_core;
struct rank_state;

/// What an access does besides. Blocks that are not touched hold the identity, or nothing yet where they are filled
/// late.
enum class tracking : std::uint8_t { none, marks, fills_late };

/// Not a character type: what is stored through it is no part of the arrays beside it.
enum class mark : std::uint8_t { untouched = 0, touched = 1 };

/// One thread's copy of the array, as its accessors see it.
struct private_copy {
  std::byte* data = nullptr;
  mark* touched = nullptr;       ///< [block]
  std::uint64_t generation = 0;  ///< what it holds counts if that is the reducer's; else it was forgotten
};

/// A reducer's array without its types.
struct reduced_array {
  std::size_t count = 0;
  reduction_table const* reduction = nullptr;
  std::shared_ptr<void const> operation;  ///< what folds get as their context
  std::shared_ptr<void const> identity;   ///< one element
  void (*fill)(void const* element, std::size_t element_bytes, void* to, std::size_t count) = nullptr;
};

/// Throws argument_error for more elements than there can be and for operations that do not commute.
COSET_API std::shared_ptr<reducer_core> make_reducer(reduced_array, reducer_options const&);

/// The elements of a block as a power of two.
COSET_API unsigned block_shift(reducer_core const&) noexcept;
COSET_API detail::tracking tracking_of(reducer_core const&) noexcept;

/// The calling thread's copy, made if it has none; or the copy of this number, whoever calls. Ready for this
/// generation.
COSET_API private_copy& copy_of_this_thread(reducer_core&);
COSET_API private_copy& copy_numbered(reducer_core&, std::uint32_t number);

/// Blocks [first, first + blocks) of the copy are touched, and hold the identity where they held nothing.
COSET_API void touch(reducer_core&, private_copy&, std::size_t first, std::size_t blocks = 1);

/// Folds part `part` of `parts` of all copies into `into`, which takes part as the first source; or, if `into` is
/// null, into the reducer's own total. Leaves the copies empty. Parts are disjoint, so they may be folded at the same
/// time.
COSET_API void fold_part(reducer_core&, void* into, std::size_t part, std::size_t parts);

/// Whether fold_round() by so many threads does what fold_part() does: each has the copy of its own number, there are no
/// others, and no blocks are tracked. Not while copies are made.
COSET_API bool can_fold_round(reducer_core const&, std::size_t threads) noexcept;

/// By one thread, after all have left the round before and before any comes to the next.
COSET_API void begin_round(reducer_core&) noexcept;
/// Folds the calling thread's copy into `into`, and empties it: part by part, each after the thread before has folded its
/// own there. By all threads at the same time, once a round has begun. If an operation throws on one, the others return
/// as soon as they would wait for it.
COSET_API void fold_round(reducer_core&, void* into, std::size_t thread, std::size_t threads);

/// All copies into `into`, of `length` elements, by all ranks of a team, collective.
COSET_API void fold_by_ranks(reducer_core&, void* into, std::size_t length, rank_state&);

/// How many threads may fold this many copies with profit: 1 where one is done before others have heard of it.
COSET_API std::size_t worthwhile_parts(reducer_core const&, std::size_t copies) noexcept;

/// The reducer's own total, of all elements; made if there is none.
COSET_API void* total_of(reducer_core&);

COSET_API void reset(reducer_core&) noexcept;
COSET_API std::string describe(reducer_core const&);

/// Refuses an array of another length than the reducer's, naming both.
COSET_API void require_length(reducer_core const&, std::size_t length);

}  // namespace detail
}  // namespace coset
