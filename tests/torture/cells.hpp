// SPDX-License-Identifier: Apache-2.0
// The matrix: what ranks do × what kind of team they are × what befalls them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coset/verbs/verb.hpp"

namespace coset::torture {

/// What ranks do: each verb, and what is made of verbs or beside them.
struct deed_kind {
  enum beside : std::uint8_t { is_verb, dense, sparse, joint, together, planned, exchange, split, of_c };

  std::string_view name;
  verb what = verb::barrier;
  beside other = is_verb;
};

enum class team_kind : std::uint8_t { own, adopted, openmp, tasks, processes };
inline constexpr std::array<std::string_view, 5> team_names{"own", "adopted", "OpenMP", "oneTBB", "processes"};

enum class fault : std::uint8_t {
  fork,
  exit,
  exec,
  kill,
  full_memory,
  address_space,
  threads,
  modes,
  interruptions,
  refused_calls,
  processors
};
inline constexpr std::array<std::string_view, 11> fault_names{"fork",
                                                              "exit",
                                                              "exec",
                                                              "kill -9",
                                                              "full memory",
                                                              "limit on address space",
                                                              "limit on threads",
                                                              "floating-point modes",
                                                              "EINTR storm",
                                                              "refused system calls",
                                                              "narrowed cpuset"};

constexpr bool ends_process(fault f) { return f == fault::exit || f == fault::exec || f == fault::kill; }

struct cell {
  std::size_t deed;
  team_kind team;
  fault what;
};

std::vector<deed_kind> const& deeds();
/// Why ranks of such a team cannot do that; empty where they can.
std::string_view impossible(deed_kind const&, team_kind);
/// All possible ones of these kinds of teams, in an order that mixes them.
std::vector<cell> cells_of(std::vector<team_kind> const&);
std::string text(cell const&);

}  // namespace coset::torture
