// SPDX-License-Identifier: Apache-2.0
// Starts cases, each in a process of its own, and judges how they end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "torture/account.hpp"
#include "torture/cells.hpp"

namespace coset::torture {

/// How a case has ended. All from `wrong` on are failures.
enum class verdict : std::uint8_t { right, words, ended, wrong, silent, hung, died };
inline constexpr std::array<std::string_view, 7> verdict_names{"right",  "in words", "ended", "wrong",
                                                               "silent", "hung",     "died"};
constexpr bool is_failure(verdict v) { return v >= verdict::wrong; }

struct ending {
  verdict is;
  std::string text;
};

/// Of a case of processes, at most.
inline constexpr std::size_t most_processes = 2;

/// What is told of one case: by one process, or by each of several.
using accounts = std::array<account, most_processes>;

/// `status` as of waitpid(); `errors`: what the process wrote on standard error.
ending judge(cell const&, accounts const&, bool in_time, int status, std::string const& errors);

/// Cases and verdicts by cell.
class tally {
 public:
  void add(cell const& c, verdict v) { ++counts_[{c.deed, c.team, c.what}][std::size_t(v)]; }
  std::size_t failures() const;
  std::size_t least_of(std::vector<cell> const&) const;
  /// For people: faults × kinds of teams.
  std::string table() const;
  /// A line "fault TAB team TAB deed TAB count of each verdict…" per cell.
  std::string lines() const;

 private:
  std::map<std::tuple<std::size_t, team_kind, fault>, std::array<std::size_t, verdict_names.size()>> counts_;
};

}  // namespace coset::torture
