// SPDX-License-Identifier: Apache-2.0
// How a rank comes by the tables and the staging of a channel.
#pragma once

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Makes this rank's tables of a channel unless it has them: 72 bytes for each rank with which it shares memory. Unused
/// channels cost nothing.
void open_channel(detail::rank_state&, std::uint32_t channel);

/// From now on this rank uses staging of at least `bytes` on the channel. New staging needs no word between ranks: all
/// of them see the same sizes in the same order. Takes a lock; allocates the first time.
void use_staging(detail::rank_state&, std::uint32_t channel, std::size_t bytes);

}  // namespace coset::runtime
