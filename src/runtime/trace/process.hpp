// SPDX-License-Identifier: Apache-2.0
// What is recorded in this process: whether anything is, all its journals, the words for its plans, and its clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/trace/journal.hpp"
#include "runtime/trace/log.hpp"

namespace coset::trace {

/// Whether ranks that are made from now on have journals: because COSET_TRACE names a file, which is then written at the
/// end of the process, or after start(). Asked once per rank.
bool is_on();
/// So many of a rank's events can be kept: 256 MiB.
inline constexpr std::size_t most_events = std::size_t{1} << 22;
/// As if COSET_TRACE named no file; `events` of each rank are kept, 0: as many as the environment says.
void start(std::size_t events);

/// Numbers teams from 1 on, in the order of their making.
std::uint32_t next_team();
/// Names a team over processes as all of them do, and one that was split from such a team.
void name_joint_team(std::uint32_t team, std::uint64_t agreed);
void name_part(std::uint32_t part, std::uint32_t of, std::uint64_t agreed);
/// A new journal, whose events stay until the process ends.
journal& open_journal(std::uint32_t root_team, rank_t thread, std::optional<unsigned> node);
/// Nothing more will be written there: another journal gets its memory.
void close_journal(journal&) noexcept;
void describe_plan(std::uint32_t plan, plan_words);

/// Of a process that is one of several.
void identify(std::uint32_t process, std::uint32_t processes);
/// So many ns the first one's clock is ahead of this one's, among so many processes. What the most have in common counts.
void align(std::uint32_t processes, std::int64_t ahead);
/// This process's time in ns since 1970, of a clock that is never set.
std::int64_t now();

/// All that has been recorded so far, in this process.
log collect();

}  // namespace coset::trace
