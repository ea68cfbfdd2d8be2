// SPDX-License-Identifier: Apache-2.0
// The collectives by name, for plans.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstdint>
#include <span>
#include <string_view>

#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {

enum class verb : std::uint8_t {
  allreduce,
  reduce,
  reduce_scatter,
  allgather,
  broadcast,
  scan,
  exclusive_scan,
  barrier,
  reduce_shared,   ///< one result, in an array that all ranks name
  allreduce_view,  ///< one result per node, a small one per rank, in the team's memory
  gather,
  scatter,
  all_to_all
};

namespace detail {

/// One rank gives or gets what the others do not.
constexpr bool is_rooted(verb what) {
  return what == verb::reduce || what == verb::broadcast || what == verb::gather || what == verb::scatter;
}
/// The vector is made of a piece for each rank.
constexpr bool is_of_pieces(verb what) {
  return what == verb::reduce_scatter || what == verb::allgather || what == verb::gather || what == verb::scatter ||
         what == verb::all_to_all;
}
/// Values are moved only, not combined.
constexpr bool only_moves(verb what) {
  return what == verb::allgather || what == verb::broadcast || what == verb::barrier || what == verb::gather ||
         what == verb::scatter || what == verb::all_to_all;
}

}  // namespace detail

/// All verbs, and their names as above.
COSET_API std::span<verb const> all_verbs() noexcept;
COSET_API std::string_view name_of(verb) noexcept;
/// Throws argument_error listing the names.
COSET_API verb verb_named(std::string_view name);

}  // namespace coset
