// SPDX-License-Identifier: Apache-2.0
// What the ranks of a team share.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "coset/plan.hpp"
#include "coset/team.hpp"
#include "coset/topology.hpp"
#include "team/arena.hpp"
#include "team/failure.hpp"
#include "team/rank_state.hpp"
#include "team/waiting.hpp"

namespace coset::team_room {

class workers;
class gathering;

/// Compiled schedules of a team, made once each, shared by its ranks.
class compiled_table {
 public:
  using key = std::tuple<std::string, schedule::collective, rank_t, program::policy>;

  /// Throws schedule_error: no such algorithm, undefined for this many ranks, or a storage that would lose a value.
  std::shared_ptr<program::compiled const> get(std::string const& algorithm, schedule::collective, rank_t root, rank_t ranks, program::policy const&);

 private:
  std::mutex making_;
  std::map<key, std::shared_ptr<program::compiled const>> made_;
};

}  // namespace coset::team_room

namespace coset::detail {

struct team_state {
  team_state(rank_t ranks, team_options, std::vector<processor> places, std::vector<unsigned> const& nodes_of_ranks, bool pinned);
  ~team_state();

  /// Starts a generation: every rank's channels agree again, whatever the last one ended with. Only while no rank runs.
  void begin_generation();
  /// Peers that are inside an instruction which touches another rank's caller memory get to finish it. Only after a
  /// recorded failure: new ones are not begun then.
  void quiesce(rank_t self) const noexcept;
  /// Records the failure and wakes whoever sleeps.
  void fail(team_room::cause, std::string reason, std::exception_ptr original = nullptr) noexcept;

  rank_t const ranks;
  team_options const options;
  std::vector<processor> const places;            ///< [rank]; empty for adopted teams
  bool const pinned;
  team_room::patience const patience;
  bool const plain_posts = team_room::sleepers_pay();
  team_room::arena arena;
  std::vector<std::unique_ptr<rank_state>> members;  ///< [rank], made by the rank's own thread where there is one
  std::uint32_t generation = 0;
  std::uint32_t salt = 0;                         ///< the generation's part of a tag
  std::size_t reserved_bytes = 0;
  std::atomic<std::uint32_t> explicit_plans = 0;
  team_room::compiled_table programs;
  std::mutex binding;                             ///< explicit plans
  std::map<std::tuple<std::string, std::size_t, reduction_table const*, bool>, std::unique_ptr<bound_plan const>> plans;
  alignas(team_room::line_spacing) team_room::failure failure;
  std::unique_ptr<team_room::workers> workers;    ///< owning teams
  std::unique_ptr<team_room::gathering> gathering;  ///< adopted teams
};

}  // namespace coset::detail
