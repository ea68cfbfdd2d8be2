// SPDX-License-Identifier: Apache-2.0
// From a choice to a bound plan.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "coset/detail/collective.hpp"
#include "planning/choice/choose.hpp"
#include "planning/plan/bound_plan.hpp"
#include "planning/plan/team_facts.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::planning {

/// Where staging cannot grow a vector goes in segments, and one that is made of ranks' pieces if all are equally long and none
/// moves together with others.
struct lacks_staging : argument_error {
  using argument_error::argument_error;
};

/// Programs of a team, each compiled once, by schedule, storage, and [rank] whose output replaces its own; none where every rank
/// has its own.
using programs = std::map<std::tuple<schedule::algorithm, verb, rank_t, program::policy, std::vector<rank_t>>,
                          std::shared_ptr<program::compiled const>>;

/// The chosen schedule, compiled and bound to the call. Throws lacks_staging, and schedule_error: no such algorithm, undefined
/// for this many ranks, or a storage that would lose a value.
std::shared_ptr<detail::bound_plan> bind_plan(team_facts const&, programs&, signature const&, detail::call const&,
                                              choice::answer);

/// The plan of a call of the same class as that of `like`, of one segment: what is chosen and compiled stays, all else is arithmetic.
/// Null if the call needs more segments than one, or another place in staging.
std::shared_ptr<detail::bound_plan> bind_like(detail::bound_plan const& like, team_facts const&, detail::call const&);

/// Whether a call for which staging has no room can be carried out by others: one that is made of ranks' pieces, by a reduce or a
/// broadcast of each piece, which go in segments, or by calls for the next few elements of each.
bool may_go_in_parts(team_facts const&, detail::call const&);
/// What its arrays are; there is no program. See bound_plan::goes_in_parts().
std::shared_ptr<detail::bound_plan> bind_in_parts(team_facts const&, detail::call const&);

/// One rank's plan by which it fetches as many pieces as there are ranks, of lengths that no rank knows all of, from others' arrays,
/// before all meet as in this barrier: see program::fetching. `copied`: bytes, for messages by another name.
std::unique_ptr<detail::bound_plan> bind_fetching(detail::bound_plan const& barrier, rank_t rank, rank_t pieces,
                                                  detail::reduction_table const& copied);

/// Makes plans candidates for one shape: by what they learn, ranks take one of them instead of the first. There are at
/// least two. `leader`: who decides for all, if not all tell all what calls took.
void make_candidates(std::vector<std::shared_ptr<detail::bound_plan>> const&,
                     std::shared_ptr<detail::shape_lessons> learned, std::optional<rank_t> leader);

/// Says of the first that it may become one of the others.
void name_candidates(std::vector<std::shared_ptr<detail::bound_plan>> const&);

}  // namespace coset::planning
