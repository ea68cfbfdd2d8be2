// SPDX-License-Identifier: Apache-2.0
// The executor's offloads of one value of each domain: the endpoint's part is bytes in a room of its own.
#pragma once

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Hands this domain's value over and starts the offload.
void start_offload(detail::rank_state&, flight const&, program::instruction const&);
/// Whether what the instruction waits for has come; it is where it belongs then.
bool finish_offload(detail::rank_state&, flight const&, program::instruction const&);

/// higher[i] = lower[i] op higher[i], as libraries of messages have it; of a standalone reduction.
void fold_onto(offloaded_items const&, void const* lower, void* higher, std::size_t count) noexcept;

}  // namespace coset::runtime
