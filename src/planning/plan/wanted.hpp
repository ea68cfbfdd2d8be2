// SPDX-License-Identifier: Apache-2.0
// How a call is to run: as its caller, the environment, or the library wants it.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <mutex>

#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"
#include "planning/choice/choose.hpp"
#include "planning/plan/team_facts.hpp"

namespace coset::planning {

using choice::schedule_of;

/// The first rule of the team's table for a call; null if there is none.
calibration::rule const* rule_for(team_facts const&, detail::call const&);

/// Bytes of the longest whole vector that gets the same choice on one host.
std::size_t bytes_of_class(detail::call const&);

/// The library's choice, rules left aside. On one host the same for all lengths of a class.
choice::answer default_for(team_facts const&, detail::call const&);

/// The defaults of a team's calls, asked for once in each class. Any thread.
class default_table {
 public:
  choice::answer of(team_facts const&, detail::call const&);

 private:
  struct shape {
    std::size_t bytes;
    verb what;
    bool in_place, commutative;
    friend auto operator<=>(shape const&, shape const&) = default;
  };
  std::mutex asking_;
  std::map<shape, choice::answer> known_;
};

/// What gives the same bits as the library's choice, and may serve better: see choice::alternatives. None where ranks
/// learn nothing.
std::vector<choice::answer> alternatives_for(team_facts const&, detail::call const&, choice::answer const&);

/// `chosen`, but for what the options say. Throws schedule_error if that does not exist, or cannot serve the call as
/// required.
choice::answer changed(choice::answer chosen, plan_options const&, team_facts const&, detail::call const&);

}  // namespace coset::planning
