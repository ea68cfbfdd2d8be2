// SPDX-License-Identifier: Apache-2.0
// The fold generator: any valid chain over any group becomes an allreduce.
#pragma once

#include <vector>

#include "planning/schedule/groups/symmetric.hpp"

namespace coset::schedule {

/// For every t in `lags`, rank x sends its block x − t to rank x − shift, where it is combined into lag
/// t − shift. The distributed vector of lag t is block x − t on every rank x: one block per rank.
struct transfer {
  element shift;
  std::vector<element> lags;
};

/// Steps of transfers. With E_0 = G and E_{i+1} = E_i without the lags sent in step i, a chain is valid exactly
/// if it sends only lags of E_i, each once; every one lands in E_{i+1}; and E_L = {0} is left.
using chain = std::vector<std::vector<transfer>>;

/// By lag t, the largest i with t in E_i; L for lag 0.
/// Throws schedule_error with the first violated condition, its step, shift and lag.
std::vector<std::uint32_t> last_level(group const&, chain const&);

/// Throws schedule_error if there are not so many steps to save.
void require_saved(std::uint32_t saved_steps, group const&, chain const& reducing);

/// Reduces along `reducing` to the lags D = E_{L − saved_steps}, sharing partials of equal lag and equal
/// relative content, and distributes along `distributing` backwards from the level whose lags are D.
///
/// saved_steps 0 gives every block one owner and the least volume, saved_steps L all ranks everything in L steps.
/// Throws schedule_error if a chain is invalid, saved_steps exceeds L, the chains have no common D, or there is no room for
/// so many partials.
/// Cost: O(P · radix) for saved_steps 0, up to that times |D| otherwise. Source: [KZ] sections 7–9, for any group.
symmetric_schedule fold(group const&, chain const& reducing, chain const& distributing, std::uint32_t saved_steps = 0);

}  // namespace coset::schedule
