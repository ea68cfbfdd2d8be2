// SPDX-License-Identifier: Apache-2.0
// Chains of one's own: from shifts alone, over any group.
#pragma once

#include <vector>

#include "planning/schedule/groups/fold.hpp"

namespace coset::schedule {

/// The shifts of each step, in order; a step of several shifts reads from as many peers at once.
using shift_list = std::vector<std::vector<element>>;

/// Steps of k − 1 shifts each: s, s + s, … of every shift, without repeats.
shift_list in_radix(group const&, std::vector<element> const& shifts, rank_t radix);

/// The chain of these shifts. Lags are sent as early as they can be, so that steps halve what is left where the shifts
/// allow it; of several shifts of a step the one takes a lag that has fewer so far.
///
/// A chain exists exactly if the shifts cover the group: with E_L = {0} and E_i = E_{i+1} ∪ E_{i+1} + s for the shifts s of
/// step i, E_0 has to be all of it. So shifts that cover a subgroup, before others that reach each of its cosets, are a
/// hierarchy: cosets first.
/// Throws schedule_error with the first violated condition: a shift that is no element, or 0; a step that reaches nothing
/// new; an element that is not reached.
/// Cost: O(P · shifts).
/// Steps to which the earlier ones leave nothing are left out.
chain covering_chain(group const&, shift_list const&);
/// The same with all its steps: throws schedule_error for the first that covering_chain() leaves out.
chain chain_of_all(group const&, shift_list const&);

/// The same with at most `cap` lags for each shift and step: steps with more are several. 0: no limit.
chain with_cap(chain, rank_t cap);

/// Shifts 1, −1, 3, −5, 11, … modulo an even P, for the dihedral group: near ranks first, or far ones.
/// Source: De Sensi et al., Swing, NSDI 2024, and Bine trees, SC 2025.
shift_list swing_shifts(rank_t ranks, bool far_first = false);

}  // namespace coset::schedule
