// SPDX-License-Identifier: Apache-2.0
// The erased reducer beneath the typed ones: private copies of arrays, and their folds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coset/detail/reduction.hpp"
#include "coset/visibility.h"

namespace coset {

/// What a combination does with what its target holds: that is the first operand, or is replaced.
enum class combining : std::uint8_t { add, assign };

/// How a sparse reducer keeps its private copies.
struct sparse_options {
  /// What is tracked as touched or not, in bytes; becomes a power of two of elements. 0: 512 B, and a cache line from 64
  /// MiB on, where misses cost more than marks.
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

/// What an access to a sparse reducer's copy does besides. Blocks that are not touched hold the identity, or nothing yet
/// where they are filled late. Dense ones are not tracked: none.
enum class tracking : std::uint8_t { none, marks, fills_late };

/// Not a character type: what is stored through it is no part of the arrays beside it.
enum class mark : std::uint8_t { untouched = 0, touched = 1 };

/// One thread's copy of all arrays, as its accessors see it.
struct private_copy {
  std::byte* data = nullptr;     ///< the array with index k begins at data + offset_of(core, k)
  mark* touched = nullptr;       ///< [block], sparse only
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
COSET_API std::shared_ptr<reducer_core> make_reducer(std::vector<reduced_array>);
COSET_API std::shared_ptr<reducer_core> make_sparse_reducer(reduced_array, sparse_options const&);

/// Where array `index` begins in each copy, in bytes; on a cache line of its own.
COSET_API std::size_t offset_of(reducer_core const&, std::size_t index) noexcept;
/// The elements of a sparse reducer's block as a power of two.
COSET_API unsigned block_shift(reducer_core const&) noexcept;
COSET_API detail::tracking tracking_of(reducer_core const&) noexcept;

/// The calling thread's copy, made if it has none; or the copy of this number, whoever calls. Ready for this
/// generation.
COSET_API private_copy& copy_of_this_thread(reducer_core&);
COSET_API private_copy& copy_numbered(reducer_core&, std::uint32_t number);
/// The copy of this number for the calling thread alone, until claims are renewed; its own one where another thread has
/// that.
COSET_API private_copy& copy_claimed(reducer_core&, std::uint32_t number);

/// Which copies threads may go on with unasked: those that they have got under the same key. No two reducers have ever
/// the same. Changes while nobody asks for a copy.
COSET_API std::uint64_t const& key_of(reducer_core const&) noexcept;
/// Claims end if a thread has missed the copy of its number: those that claimed have other numbers by now. For one
/// thread, while nobody asks for a copy.
COSET_API void renew_claims(reducer_core&) noexcept;

/// How a thread has got a copy: as its own, or by a number, claimed or not.
inline constexpr std::uint64_t as_own = 0;
constexpr std::uint64_t by_claim(std::uint32_t number) { return 1 + std::uint64_t{2} * number; }
constexpr std::uint64_t by_number(std::uint32_t number) { return 2 + std::uint64_t{2} * number; }

/// What the calling thread has got last. One for some reducers each, so that it is found in a few instructions: what is
/// lost costs a call.
struct recent_copy {
  std::uint64_t key = 0;  ///< 0 is nobody's
  std::uint64_t how = as_own;
  std::byte* data = nullptr;
};
inline constexpr unsigned key_bits_of_claims = 16, recent_copies_kept = 8;
inline constinit thread_local std::array<recent_copy, recent_copies_kept> recent_copies = {};

/// get() gives a private_copy where the thread has none at hand.
template <class Get>
inline std::byte* recent_or(std::uint64_t const& key, std::uint64_t how, Get get) {
  recent_copy& last = recent_copies[(key >> key_bits_of_claims) % recent_copies_kept];
  if (last.key != key || last.how != how) [[unlikely]] {
    std::byte* const data = get().data;
    last = {key, how, data};
  }
  return last.data;
}

/// Blocks [first, first + blocks) of a sparse reducer's copy are touched, and hold the identity where they held nothing.
COSET_API void touch(reducer_core&, private_copy&, std::size_t first, std::size_t blocks = 1);

/// Folds part `part` of `parts` of all copies into the arrays `into`, one for each of the reducer's; or, if that is null,
/// into the reducer's own totals. Leaves the copies empty. Parts are disjoint, so they may be folded at the same time.
COSET_API void fold_part(reducer_core&, void* const* into, std::size_t part, std::size_t parts,
                         combining = combining::add);

/// Whether fold_round() by so many threads does what fold_part() does, and faster: each has the copy of its own number,
/// there are no others, and no blocks are tracked. Not while copies are made.
COSET_API bool should_fold_round(reducer_core const&, std::size_t threads, combining) noexcept;

/// By one thread, after all have left the round before and before any comes to the next.
COSET_API void begin_round(reducer_core&) noexcept;
/// Folds the calling thread's copy into `into`, and empties it: part by part, each after the thread before has folded its
/// own there. By all threads at the same time, once a round has begun. If an operation throws on one, the others return
/// as soon as they would wait for it.
COSET_API void fold_round(reducer_core&, void* const* into, std::size_t thread, std::size_t threads,
                          combining = combining::add);

/// All copies into `into`, arrays of these lengths, by all ranks of a team, collective.
COSET_API void fold_by_ranks(reducer_core&, void* const* into, std::size_t const* lengths, rank_state&,
                             combining = combining::add);

/// How many threads may fold this many copies with profit: 1 where one is done before others have heard of it.
COSET_API std::size_t worthwhile_parts(reducer_core const&, std::size_t copies) noexcept;

/// Whether so many threads take turns on the processors that the process may use, as it was when first asked.
COSET_API bool share_processors(std::size_t threads);

/// Whether any thread has ever reduced. Not while copies are made.
COSET_API bool has_copies(reducer_core const&) noexcept;

/// The copy that holds the reducer's own totals, of all elements; made if there is none.
COSET_API private_copy& total_of(reducer_core&);

COSET_API void reset(reducer_core&) noexcept;
COSET_API std::string describe(reducer_core const&);

/// Refuses arrays of other lengths than the reducer's, naming both.
COSET_API void require_lengths(reducer_core const&, std::size_t const* lengths);

}  // namespace detail
}  // namespace coset
