// SPDX-License-Identifier: Apache-2.0
// The compiled schedules of a team.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "planning/plan/team_facts.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::planning {

/// Whose outputs are one.
enum class sharing : std::uint8_t { nobodys, the_processes, the_nodes };

/// Compiled schedules, made once each, shared by a team's ranks.
class compiled_table {
 public:
  using key = std::tuple<schedule::algorithm, verb, rank_t, program::policy, sharing>;

  /// Throws schedule_error: no such algorithm, undefined for this many ranks, or a storage that would lose a value.
  std::shared_ptr<program::compiled const> get(team_facts const&, key const&);

 private:
  std::mutex making_;
  std::map<key, std::shared_ptr<program::compiled const>> made_;
};

}  // namespace coset::planning
