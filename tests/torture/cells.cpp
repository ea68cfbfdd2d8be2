// SPDX-License-Identifier: Apache-2.0
#include "torture/cells.hpp"

#include <algorithm>
#include <random>

namespace coset::torture {

std::vector<deed_kind> const& deeds() {
  static std::vector<deed_kind> const all = [] {
    std::vector<deed_kind> made;
    for (verb const v : all_verbs()) made.push_back({name_of(v), v});
    using enum deed_kind::beside;
    for (auto const& [name, other] : {std::pair{"reducer", dense},
                                      {"sparse_reducer", sparse},
                                      {"joint_reducer", joint},
                                      {"together", together},
                                      {"plan", planned},
                                      {"all_to_all with counts", exchange},
                                      {"split", split},
                                      {"functions of C", of_c}})
      made.push_back({name, verb::allreduce, other});
    return made;
  }();
  return all;
}

std::string_view impossible(deed_kind const& what, team_kind team) {
  using enum deed_kind::beside;
  bool const reduces = what.other == dense || what.other == sparse || what.other == joint;
  if (team == team_kind::tasks) {
    if (what.what == verb::allreduce_view) return "a view has no split phase";
    if (what.other == exchange || what.other == split || what.other == of_c) return "it waits, which tasks may not";
  }
  if (team == team_kind::openmp && what.other == planned) return "a region's team is made by its threads";
  if (team == team_kind::processes) {
    if (what.what == verb::allreduce_view || what.what == verb::reduce_shared) return "processes have no common array";
    if (reduces) return "reducers are of one process";
  }
  return {};
}

std::vector<cell> cells_of(std::vector<team_kind> const& teams) {
  std::vector<cell> all;
  for (std::size_t d = 0; d < deeds().size(); ++d)
    for (team_kind const team : teams)
      for (std::size_t f = 0; f < fault_names.size(); ++f)
        if (impossible(deeds()[d], team).empty()) all.push_back({d, team, fault(f)});
  std::mt19937_64 order(1);  // the same in every run: a case's number says which cell it is of
  std::ranges::shuffle(all, order);
  return all;
}

std::string text(cell const& c) {
  return std::string(deeds()[c.deed].name) + " × " + std::string(team_names[std::size_t(c.team)]) + " × " +
         std::string(fault_names[std::size_t(c.what)]);
}

}  // namespace coset::torture
