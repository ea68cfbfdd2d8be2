// SPDX-License-Identifier: Apache-2.0
// The erased collectives beneath the typed verbs.
#pragma once

#include <cstddef>
#include <string>

#include "coset/detail/reduction.hpp"
#include "coset/team.hpp"

namespace coset::detail {

void allreduce(rank_state&, void const* in, void* out, std::size_t count, reduction_table const&, void const* context);
void barrier(rank_state&);

/// Tells every rank of the team that this one was called wrongly, then throws argument_error.
[[noreturn]] void refuse(rank_state&, std::string const& message);

/// Refuses lengths that differ, naming both.
inline void require_same_length(rank_state& state, char const* verb, std::size_t in, std::size_t out) {
  if (in != out) {
    refuse(state, std::string(verb) + ": the input has " + std::to_string(in) + " elements, the output " + std::to_string(out));
  }
}

}  // namespace coset::detail
