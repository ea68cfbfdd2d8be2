// SPDX-License-Identifier: Apache-2.0
// The erased collectives beneath the typed verbs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "coset/detail/reduction.hpp"
#include "coset/request.hpp"
#include "coset/team.hpp"
#include "coset/verb.hpp"
#include "coset/visibility.h"

namespace coset::detail {

/// One rank's call of a collective, without its types. `in` and `out` point to what this rank gives and gets: the whole
/// vector, or its piece of it where the verb scatters or gathers. The same pointer where the call is in place.
struct call {
  verb what;
  void const* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;  ///< elements of the whole vector
  reduction_table const* reduction = nullptr;
  void const* operation = nullptr;  ///< the caller's, on the stack of a blocking call
  rank_t root = 0;
  std::span<std::size_t const> counts = {};  ///< of the ranks' pieces; empty where they are equal
};

COSET_API void run(rank_state&, call const&);
/// `operation` lives on until the request is complete.
COSET_API request start(rank_state&, call const&, std::shared_ptr<void const> operation);
/// allreduce_view: where the result lies.
COSET_API void const* run_view(rank_state&, call const&);

/// Tells every rank of the team that this one was called wrongly, then throws argument_error.
[[noreturn]] COSET_API void refuse(rank_state&, std::string const& message);

/// Refuses lengths that differ, naming both.
COSET_API void require_same_length(rank_state&, char const* verb, std::size_t in, std::size_t out);

/// The length of this rank's piece of `total` elements; refuses counts that are not one per rank, or whose sum is not
/// the total, or an even split that does not come out even.
COSET_API std::size_t piece_of(rank_state&, char const* verb, std::size_t total, std::span<std::size_t const> counts);
/// The whole of which every rank has a piece of `piece` elements, or those of `counts`.
COSET_API std::size_t whole_of(rank_state&, char const* verb, std::size_t piece, std::span<std::size_t const> counts);

/// A copy of the caller's operation for as long as a request needs it. Operations without state share one.
template <class Op>
std::shared_ptr<void const> kept(Op const& op) {
  if constexpr (std::is_empty_v<Op>) {
    static Op const stateless = op;
    return {std::shared_ptr<void const>(), &stateless};
  } else {
    return std::make_shared<Op const>(op);
  }
}

}  // namespace coset::detail
