// SPDX-License-Identifier: Apache-2.0
// The cheapest chain whose steps may have several shifts, and which may save steps of the way back.
#pragma once

#include "lab/search/chain_search.hpp"
#include "planning/schedule/groups/covering.hpp"

namespace coset::schedule {

/// A chain by the shifts of its steps, and how many steps of the way back it saves.
struct wide_chain {
  shift_list steps;
  std::uint32_t saved_steps = 0;
  double seconds = 0;
};

struct wide_limits {
  std::size_t most_steps;                                  ///< of the reduction
  rank_t most_radix = 2;                                   ///< values that a rank combines in one pass
  bool saves_steps = false;                                ///< whether chains that do so count
  std::function<bool()> goes_on;                           ///< asked now and then; false ends the search
  std::function<void(wide_chain const&)> found = {};       ///< told of each better one
  double below = std::numeric_limits<double>::infinity();  ///< what is not cheaper is not looked for
};

struct wide_result {
  wide_chain best;              ///< no steps if nothing is cheaper than `below`
  bool is_proved = false;       ///< none of at most `most_steps` steps takes less
  std::uint64_t looked_at = 0;  ///< chains, each with all numbers of saved steps
};

/// A step of k values has k − 1 shifts, which with 0 are multiples of one in a row: s, 2s, or −s, s. First come the chains
/// of the field in every radix, then all lists, the last step first; a beginning is left where the steps that remain cannot
/// reach all ranks or their latencies and the least volume take more than the best chain so far. Chains are priced as
/// whole schedules, some ms for 64 ranks, so that proofs end for few ranks only.
wide_result search_wide(step_prices const&, wide_limits const&);

}  // namespace coset::schedule
