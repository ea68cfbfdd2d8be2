// SPDX-License-Identifier: Apache-2.0
// From a choice to a bound plan.
#pragma once

#include <memory>

#include "choice/choose.hpp"
#include "coset/detail/collective.hpp"
#include "plan/bound_plan.hpp"
#include "plan/compiled_table.hpp"

namespace coset::planning {

/// Where staging cannot grow a vector goes in segments, and one that is made of ranks' pieces if all are equally long and none
/// moves together with others.
struct lacks_staging : argument_error {
  using argument_error::argument_error;
};

/// The chosen schedule, compiled and bound to the call. Throws schedule_error as compiled_table::get() does, and
/// lacks_staging.
std::shared_ptr<detail::bound_plan> bind_plan(team_facts const&, compiled_table&, signature const&, detail::call const&,
                                              choice::answer);

/// Makes plans candidates for one shape: by what they learn, ranks take one of them instead of the first. There are at
/// least two.
void make_candidates(std::vector<std::shared_ptr<detail::bound_plan>> const&,
                     std::shared_ptr<std::vector<detail::rank_lesson>> learned);

}  // namespace coset::planning
