// SPDX-License-Identifier: Apache-2.0
// What was recorded, of one process or of several, as files have it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/trace/event.hpp"

namespace coset::trace {

/// For people.
struct plan_words {
  std::string call;      ///< "allreduce of 16384 float (plus)"
  std::string schedule;  ///< "direct, staged"
  friend auto operator<=>(plan_words const&, plan_words const&) = default;
};

/// One thread's.
struct rank_log {
  std::uint32_t process = 0;
  std::uint32_t root_team = 0;
  rank_t thread = 0;  ///< its rank there
  rank_t number = 0;  ///< its rank in the largest team that it has been in, and that team's size
  rank_t size = 0;
  std::uint64_t dropped = 0;                              ///< events before the first
  std::array<std::uint64_t, level_names.size()> moved{};  ///< bytes by level, of dropped events, too
  std::vector<event> events;                              ///< in the order in which they ended; times in ns
};

struct log {
  std::uint32_t process = 0, processes = 1;
  std::string host;
  std::int64_t begin = 0;  ///< ns since 1970: where all times count from
  std::vector<rank_log> ranks;
  std::map<std::uint32_t, plan_words> plans;
  /// By process and number there, of teams over processes: the name that all their processes have agreed on.
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint64_t> joint_teams;
};

/// One team, among those of all processes.
struct team_name {
  std::uint32_t process;  ///< nobody's if it is a team over several
  std::uint64_t number;
  friend auto operator<=>(team_name const&, team_name const&) = default;
};
team_name team_of(event const&, rank_log const&, log const&);

/// As JSON in the trace event format, which Perfetto and chrome://tracing show: a track for each rank, and one more for
/// each channel of its started operations; arrows from a signal to the wait that it ends.
std::string json_of(log const&);
/// What an event is called there.
std::string name_of(event const&, log const&);

}  // namespace coset::trace
