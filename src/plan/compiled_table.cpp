// SPDX-License-Identifier: Apache-2.0
#include "plan/compiled_table.hpp"

#include "numa/memory.hpp"
#include "program/program.hpp"

namespace coset::planning {
namespace {

/// [rank]: the rank whose output replaces its own. Empty: every rank has its own.
std::vector<rank_t> outputs(team_facts const& team, sharing who) {
  if (who == sharing::nobodys) return {};
  return who == sharing::the_nodes ? team.node_leaders : std::vector<rank_t>(team.ranks, 0);
}

}  // namespace

std::shared_ptr<program::compiled const> compiled_table::get(team_facts const& team, key const& wanted) {
  std::lock_guard const lock(making_);
  if (auto const found = made_.find(wanted); found != made_.end()) return found->second;
  auto const& [algorithm, verb, root, storage, shared] = wanted;
  auto const plan = schedule::make(algorithm, team.ranks, verb, root);
  auto made =
      std::make_shared<program::compiled const>(program::compile(plan, storage, outputs(team, shared), team.spread));
  made_.emplace(wanted, made);
  // What a compiler takes for a while grows faster than what it leaves, and malloc would keep it in this thread's
  // arena.
  constexpr rank_t many_ranks = 128;
  if (team.ranks >= many_ranks) numa::return_freed_pages();
  return made;
}

}  // namespace coset::planning
