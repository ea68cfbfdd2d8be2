// SPDX-License-Identifier: Apache-2.0
// A schedule's assignments as one sequence, for code that measures schedules: sorted in linear time, with volumes in
// whole units.
#pragma once

#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// One assignment and its step.
struct event {
  std::uint32_t step;
  assignment const* made;
};

/// All assignments in the schedule's order, which must not change while they are in use.
std::vector<event> events_of(schedule const&);

/// Stable counting sort by keys below `keys`: sorting by rank, step and block in turn leaves a rank's list as it was.
template <typename Key>
void sort_by(std::vector<event>& events, std::size_t keys, Key key) {
  std::vector<std::size_t> next(keys + 1, 0);
  for (event const& e : events) ++next[key(e) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<event> sorted(events.size());
  for (event const& e : events) sorted[next[key(e)]++] = e;
  events = std::move(sorted);
}

/// Wants every rank below s.ranks.
void sort_by_step_and_rank(std::vector<event>&, schedule const& s);

/// Calls visit(list) for what each rank does in each step, given events in which these stand together.
template <typename Visit>
void for_each_list(std::span<event const> events, Visit visit) {
  auto const together = [](event const& a, event const& b) { return a.step == b.step && a.made->rank == b.made->rank; };
  for (std::size_t first = 0, last = 0; first < events.size(); first = last) {
    while (last < events.size() && together(events[first], events[last])) ++last;
    visit(events.subspan(first, last - first));
  }
}

/// The sizes of blocks as whole multiples of 1/denominator, so that totals are integer sums.
/// Throws schedule_error if that unit would be finer than 2^-40, which leaves room for the steps of any schedule.
struct units {
  explicit units(schedule const&);

  std::int64_t denominator = 1;
  std::vector<std::int64_t> size;  ///< by block
};

/// All that a price has to know of a step: who gets how much of whom, by receiver and giver, and what ranks combine that do
/// anything. In whole units.
struct step_messages {
  struct message {
    rank_t to, from;
    std::int64_t volume;
  };
  std::vector<message> messages;
  std::map<rank_t, std::int64_t> combined;

  /// Calls visit(rank, combined, its messages).
  template <typename Visit>
  void for_each_rank(Visit visit) const {
    std::size_t first = 0;
    for (auto const& [rank, volume] : combined) {
      std::size_t last = first;
      while (last < messages.size() && messages[last].to == rank) ++last;
      visit(rank, volume, std::span(messages).subspan(first, last - first));
      first = last;
    }
  }
};

/// What one rank reads of another.
struct value_read {
  rank_t to, from;
  block_t block;
  slot_t slot;
  friend auto operator<=>(value_read const&, value_read const&) = default;
};
/// In their order, each once.
void sort(std::vector<value_read>&);

/// A rank's reads from itself are free; a value that it reads twice in one step counts once, as validate() counts.
step_messages messages_in(schedule const&, std::size_t step, units const&);

}  // namespace coset::schedule
