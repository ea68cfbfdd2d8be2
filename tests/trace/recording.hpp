// SPDX-License-Identifier: Apache-2.0
// Teams that record, and what the latest of them has recorded.
#pragma once

#include <algorithm>

#include "runtime/trace/process.hpp"
#include "support/teams.hpp"

namespace coset::trace_test {

using team_test::options_for;

/// What is recorded of this team alone: journals stay until the process ends.
template <class Body>
trace::log recorded(rank_t ranks, Body&& body, std::size_t events = 1 << 15) {
  trace::start(events);
  {
    team threads(options_for(ranks));
    body(threads);
  }
  trace::log all = trace::collect();
  std::uint32_t const latest = std::ranges::max(all.ranks, {}, &trace::rank_log::root_team).root_team;
  std::erase_if(all.ranks, [&](trace::rank_log const& rank) { return rank.root_team != latest; });
  return all;
}

}  // namespace coset::trace_test
