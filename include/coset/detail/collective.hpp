// SPDX-License-Identifier: Apache-2.0
// The type-erased collectives beneath the typed verbs.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>

#include "coset/detail/reduction.hpp"
#include "coset/detail/visibility.h"
#include "coset/request.hpp"
#include "coset/team.hpp"
#include "coset/verbs/verb.hpp"

namespace coset::inline COSET_ABI::detail {

/// One rank's call of a collective, without its types. `in` and `out` point to this rank's input and result: the whole
/// vector, or its piece where the verb scatters or gathers. They are equal if the call is in place.
struct call {
  verb what;
  void const* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;  ///< elements of the whole vector
  reduction_table const* reduction = nullptr;
  void const* operation = nullptr;  ///< the caller's, on the stack of a blocking call
  rank_t root = 0;
  /// Lengths of the ranks' pieces, empty if all are equal; or of the arrays that travel together.
  std::span<std::size_t const> counts = {};
  /// Of a started call: gets `operation` and `delivered_to` when the call is complete, before the request says so. Not where
  /// it was complete when its start returned, with a request that stands for nothing.
  void (*deliver)(void const* operation, void* delivered_to) noexcept = nullptr;
  void* delivered_to = nullptr;
};

/// Hears of elements [begin, begin + count): the result has them, and nobody reads them in this rank's input any more.
struct segment_listener {
  void (*heard)(void* context, void* result, std::size_t begin, std::size_t count);
  void* context;
};

COSET_API void run(rank_state&, call const&);
/// The same, segment by segment, each of which the listener hears of in order.
COSET_API void run(rank_state&, call const&, segment_listener const&);
/// What a barrier is.
inline call meeting() { return {.what = verb::barrier, .reduction = &copy_of<char>()}; }
/// Keeps `operation` until the request is complete. Where the call has one and nothing is kept, see kept_if_possible(),
/// all ranks throw out_of_memory.
COSET_API request start(rank_state&, call const&, std::shared_ptr<void const> operation);
/// all_to_all of unequal pieces: `counts` of the call are what this rank sends to each, and these what it gets from each.
COSET_API void run_exchange(rank_state&, call const&, std::span<std::size_t const> received);
/// allreduce_view; returns the address of the result.
COSET_API void const* run_view(rank_state&, call const&);
COSET_API void const* run_view(rank_state&, call const&, segment_listener const&);

/// Reports to every rank of the team that this rank's call is wrong, then throws argument_error.
[[noreturn]] COSET_API void refuse(rank_state&, std::string const& message);

/// Refuses different lengths, naming both.
[[noreturn]] COSET_API void refuse_lengths(rank_state&, char const* verb, std::size_t in, std::size_t out);
inline void require_same_length(rank_state& me, char const* verb, std::size_t in, std::size_t out) {
  if (in != out) [[unlikely]]
    refuse_lengths(me, verb, in, out);
}

/// The length of this rank's piece of `total` elements. Refuses counts that are not one per rank or whose sum is not
/// the total, and a total that cannot be split evenly.
COSET_API std::size_t piece_of(rank_state&, char const* verb, std::size_t total, std::span<std::size_t const> counts);
/// The whole length, given the ranks' pieces: `piece` elements each, or those of `counts`.
COSET_API std::size_t whole_of(rank_state&, char const* verb, std::size_t piece, std::span<std::size_t const> counts);

/// Of operations that are pointers to functions.
template <class Op>
constexpr bool is_null([[maybe_unused]] Op const& op) {
  if constexpr (std::is_pointer_v<Op>) {
    return op == nullptr;
  } else {
    return false;
  }
}

/// The address of the caller's operation, as a call has it; every rank is told if there is none.
template <class Op>
void const* operation_of(member& me, Op const& op) {
  if (is_null(op)) [[unlikely]]
    refuse(me.state(), "the operation is NULL");
  return std::addressof(op);
}

/// Throws argument_error if there is none.
template <class Op>
Op const& present(Op const& op) {
  if (is_null(op)) throw argument_error("the operation is NULL");
  return op;
}

/// A copy of the caller's operation that lives as long as a request needs it. Operations without state share one.
template <class Op>
COSET_PER_COPY std::shared_ptr<void const> kept(Op const& op) {
  if constexpr (std::is_empty_v<Op> && std::is_trivially_destructible_v<Op>) {  // used until the process ends
    static Op const stateless = op;
    return {std::shared_ptr<void const>(), &stateless};
  } else {
    return std::make_shared<Op const>(op);
  }
}

/// The same for start(), which tells all ranks where there is no memory for the copy.
template <class Op>
COSET_PER_COPY std::shared_ptr<void const> kept_if_possible(Op const& op) try {
  return kept(op);
} catch (std::bad_alloc const&) {
  return nullptr;
}

}  // namespace coset::detail
