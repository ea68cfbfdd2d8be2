// SPDX-License-Identifier: Apache-2.0
#include "planning/plan/compiled_table.hpp"

#include "numa/memory.hpp"
#include "planning/program/program.hpp"
#include "planning/schedule/parts/make_part.hpp"

namespace coset::planning {
namespace {

/// [rank]: the rank whose output replaces its own. Empty: every rank has its own.
std::vector<rank_t> outputs(team_facts const& team, sharing who) {
  if (who == sharing::nobodys) return {};
  return who == sharing::the_nodes ? team.node_leaders : team.spread.leaders(team.ranks);
}

program::compiled compile(team_facts const& team, compiled_table::key const& wanted) {
  auto const& [algorithm, verb, root, storage, shared] = wanted;
  auto const& spread = team.spread;
  if (spread.is_one_domain() || storage.offloads)
    return program::compile(schedule::make(algorithm, team.ranks, verb, root), storage, outputs(team, shared), spread);
  auto const part = schedule::make_part(algorithm, spread.domains, spread.own, verb, root);
  return program::compile(part, storage, outputs(team, shared), spread);
}

}  // namespace

std::shared_ptr<program::compiled const> compiled_table::get(team_facts const& team, key const& wanted) {
  std::lock_guard const lock(making_);
  if (auto const found = made_.find(wanted); found != made_.end()) return found->second;
  auto made = std::make_shared<program::compiled const>(compile(team, wanted));
  made_.emplace(wanted, made);
  // What a compiler takes for a while grows faster than what it leaves, and malloc would keep it in this thread's
  // arena.
  constexpr rank_t many_ranks = 128;
  if (team.ranks >= many_ranks) numa::return_freed_pages();
  return made;
}

}  // namespace coset::planning
