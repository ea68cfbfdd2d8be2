// SPDX-License-Identifier: Apache-2.0
// Teams of any kind, without their types.
#pragma once

#include <concepts>

#include "coset/team.hpp"

namespace coset::inline COSET_ABI::detail {

template <class T>
concept stands_for_team = std::convertible_to<T&, team&>;

/// coset::team, coset::tbb::team, coset::mpi::team: what plans and reducers can be made for.
class any_team {
 public:
  template <stands_for_team Team>
  any_team(Team& of) noexcept : state_(static_cast<team&>(of).state()) {}
  explicit any_team(team_state& of) noexcept : state_(of) {}

  team_state& state() const noexcept { return state_; }

 private:
  team_state& state_;
};

template <class Team>
concept names_a_team = std::convertible_to<Team&, any_team>;

}  // namespace coset::detail
