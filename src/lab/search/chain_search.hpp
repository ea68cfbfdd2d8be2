// SPDX-License-Identifier: Apache-2.0
// The cheapest chain: branch and bound over lists of shifts.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "lab/search/step_prices.hpp"

namespace coset::schedule {

/// A chain by its shifts, one a step, and what reducing and distributing along it takes.
struct priced_chain {
  std::vector<element> shifts;
  double seconds = 0;
};

struct search_limits {
  std::size_t most_steps;                                  ///< of the reduction
  std::function<bool()> goes_on;                           ///< asked now and then; false ends the search
  std::function<void(priced_chain const&)> found = {};     ///< told of each better one
  double below = std::numeric_limits<double>::infinity();  ///< what is not cheaper is not looked for
  std::size_t most_of_the_field = SIZE_MAX;                ///< steps of the field's chains, which are priced first
};

struct search_result {
  priced_chain best;             ///< no shifts if nothing is cheaper than `below`
  std::size_t proved_steps = 0;  ///< no chain of at most so many steps is cheaper, of those that shifts tell
  bool for_any_steps = false;    ///< nor is one of more steps
  double bound = 0;              ///< none takes less, of at most `most_steps` steps
  std::uint64_t looked_at = 0;   ///< beginnings of chains
};

/// The shifts of the field's chains of a radix, one for each step, the first of its multiples; over some groups they are none.
std::vector<std::vector<element>> usual_chains(group const&, rank_t radix = 2);

/// Seconds of a chain there and back, with one owner for each block.
double seconds_of(step_prices const&, chain const&);
/// Seconds of chain_of_all() with these shifts. Throws schedule_error as that does.
double seconds_of(step_prices const&, std::vector<element> const& shifts);

/// Lists of shifts are extended from the first step on, which moves most; a beginning is left where the shifts cannot
/// reach all ranks in the steps that remain, or cannot be cheaper than the best chain so far. The first chains
/// are those of the field.
search_result search_chain(step_prices const&, search_limits const&);

}  // namespace coset::schedule
