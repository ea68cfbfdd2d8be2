// SPDX-License-Identifier: Apache-2.0
// The symbolic execution behind validate(): blocks are independent of one another, so each is traced on its own.
#include "planning/schedule/core/validate.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "planning/schedule/core/association.hpp"
#include "planning/schedule/core/events.hpp"
#include "planning/schedule/core/required.hpp"

namespace coset::schedule {

namespace {

constexpr std::uint32_t never = UINT32_MAX;

std::string place(event const& e) {
  return "step " + std::to_string(e.step) + ", rank " + std::to_string(e.made->rank) + ", block " +
         std::to_string(e.made->block) + ", slot " + std::to_string(e.made->slot) + ": ";
}

std::string name(source const& from) {
  return "slot " + std::to_string(from.slot) + " of rank " + std::to_string(from.rank);
}

void check_blocks(schedule const& s) {
  fraction end = 0;
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    if (s.blocks[b].offset != end || s.blocks[b].size < fraction(0))
      throw schedule_error("block " + std::to_string(b) + " starts at " + s.blocks[b].offset.text() + " instead of " +
                           end.text() + ", or has a negative size");
    end += s.blocks[b].size;
  }
  if (end != fraction(1)) throw schedule_error("the blocks end at " + end.text() + " instead of 1");
}

void check_assignment(schedule const& s, event const& e, std::size_t most_slots) {
  assignment const& a = *e.made;
  if (a.rank >= s.ranks || a.block >= s.blocks.size()) throw schedule_error(place(e) + "no such rank or block");
  if (a.count == 0 || a.first > s.sources.size() || a.count > s.sources.size() - a.first)
    throw schedule_error(place(e) + "has no sources");
  if (a.slot == 0) throw schedule_error(place(e) + "writes the input");
  if (a.slot > most_slots) throw schedule_error(place(e) + "slots are small dense numbers");
  for (source const& from : s.from(a))
    if (from.rank >= s.ranks) throw schedule_error(place(e) + "reads " + name(from) + ", and there is no such rank");
}

void check_assignments(schedule const& s, std::span<event const> events) {
  for (event const& e : events) check_assignment(s, e, events.size());
}

/// Each source adds at most the whole vector to a total.
void check_totals(std::span<event const> events, units const& in) {
  std::int64_t left = INT64_MAX / in.denominator;
  for (event const& e : events)
    if ((left -= e.made->count) < 0)
      throw schedule_error("the volumes of so many sources do not fit into 64 bits in units of 1/" +
                           std::to_string(in.denominator));
}

/// Steps with remote sources, and the most peers of one rank in one step. Wants the events sorted by step, then rank.
void count_peers(schedule const& s, std::span<event const> events, properties& found) {
  std::vector<std::size_t> last_reader(s.ranks, SIZE_MAX);
  std::size_t reader = 0;
  std::uint32_t counted = never;
  for_each_list(events, [&](auto list) {
    std::uint32_t peers = 0;
    for (event const& e : list)
      for (source const& from : s.from(*e.made))
        if (from.rank != e.made->rank && std::exchange(last_reader[from.rank], reader) != reader) ++peers;
    if (peers > 0 && std::exchange(counted, list.front().step) != list.front().step) ++found.steps;
    found.fan_in = std::max(found.fan_in, peers);
    ++reader;
  });
}

/// Traces one block after the other; volumes add up over them, the rest is per block.
class tracer {
 public:
  tracer(schedule const& s, std::span<event const> events)
      : schedule_(s),
        required_(s),
        units_(s),
        values_(s.ranks),
        sent_(s.ranks),
        received_(s.ranks),
        combined_(s.ranks) {
    check_totals(events, units_);
  }

  /// The events of one block, sorted by step and rank.
  void trace(block_t b, std::span<event const> events) {
    begin(b, events);
    for_each_list(events, [&](auto list) {
      for (event const& e : list) assign(e);
      ++reader_;
    });
    for (rank_t r = 0; r < schedule_.ranks; ++r) check_result(b, r);
    check_uniform(b);
  }

  void report(properties& found) const {
    found.sent_max = largest(sent_);
    found.received_max = largest(received_);
    found.combined_max = largest(combined_);
    found.rank_uniform = uniform_;
    found.ordered = ordered_;
  }

 private:
  fraction largest(std::vector<std::int64_t> const& totals) const {
    return {*std::max_element(totals.begin(), totals.end()), units_.denominator};
  }

  struct slot_state {
    bracketings::value value = 0;
    std::uint32_t written = never;       // the step; inputs are written before step 0
    std::size_t last_reader = SIZE_MAX;  // a rank in a step
  };
  static constexpr std::uint32_t input = never - 1;

  /// Lays out the slots of all ranks in one array.
  void begin(block_t b, std::span<event const> events) {
    values_.clear();
    repeats_.clear();
    first_slot_.assign(schedule_.ranks + 1, 1);
    for (event const& e : events) {
      std::size_t& slots = first_slot_[e.made->rank];
      slots = std::max(slots, std::size_t{e.made->slot} + 1);
    }
    std::exclusive_scan(first_slot_.begin(), first_slot_.end(), first_slot_.begin(), std::size_t{0});
    slots_.assign(first_slot_.back(), {});
    for (rank_t r = 0; r < schedule_.ranks; ++r)
      if (required_.has_input(r, b)) slots_[first_slot_[r]] = {r, input, SIZE_MAX};
  }

  slot_state* find(source const& from) {
    std::size_t const at = first_slot_[from.rank] + from.slot;
    return at < first_slot_[from.rank + 1] && slots_[at].written != never ? &slots_[at] : nullptr;
  }

  bracketings::value read(event const& e, source const& from) {
    slot_state* const state = find(from);
    bool const own = from.rank == e.made->rank;
    if (state == nullptr || (!own && state->written != input && state->written >= e.step))
      throw schedule_error(place(e) + "reads " + name(from) + " before it is written");
    if (!own && std::exchange(state->last_reader, reader_) != reader_) {
      sent_[from.rank] += units_.size[e.made->block];
      received_[e.made->rank] += units_.size[e.made->block];
    }
    return state->value;
  }

  /// Remembers where a value first counts a contributor twice; whether that matters is up to the results.
  bracketings::value fold(event const& e, bracketings::value left, source const& from) {
    bracketings::value const right = read(e, from);
    bracketings::value const folded = values_.fold(left, right);
    if (schedule_.idempotent_only) return folded;
    for (bracketings::value const part : {left, right})
      if (auto const found = repeats_.find(part); found != repeats_.end()) repeats_.try_emplace(folded, found->second);
    if (values_.overlap(left, right))
      repeats_.try_emplace(folded, place(e) + "counts a contribution of " + name(from) + " twice");
    return folded;
  }

  void assign(event const& e) {
    assignment const& a = *e.made;
    auto const sources = schedule_.from(a);
    bracketings::value value = read(e, sources.front());
    for (source const& from : sources.subspan(1)) value = fold(e, value, from);
    combined_[a.rank] += units_.size[a.block] * (std::int64_t{a.count} - 1);
    slot_state& target = slots_[first_slot_[a.rank] + a.slot];
    if (target.written != never) throw schedule_error(place(e) + "is written twice");
    target.value = value;
    target.written = e.step;
  }

  void check_result(block_t b, rank_t r) {
    slot_t const slot = schedule_.result[r][b];
    rank_range const range = required_(r, b);
    auto const fail = [&](std::string const& what) {
      throw schedule_error("result of rank " + std::to_string(r) + ", block " + std::to_string(b) + ": " + what);
    };
    if (range.empty() != (slot == no_slot)) fail(range.empty() ? "there must be none" : "missing");
    if (range.empty()) return;
    slot_state const* const state = find({r, slot});
    if (state == nullptr) fail("slot " + std::to_string(slot) + " is never written");
    if (auto const found = repeats_.find(state->value); found != repeats_.end()) throw schedule_error(found->second);
    if (!values_.contains_exactly(state->value, range))
      fail("does not hold exactly the contributions of ranks " + std::to_string(range.begin) + " to " +
           std::to_string(range.end - 1));
    ordered_ = ordered_ && values_.ascending(state->value);
  }

  /// Results that are required to be equal are bracketed equally.
  void check_uniform(block_t b) {
    if (!detail::folds_for_all(schedule_.verb)) return;  // the other verbs replicate nothing that is folded
    for (rank_t r = 1; r < schedule_.ranks && uniform_; ++r)
      uniform_ = find({r, schedule_.result[r][b]})->value == find({0, schedule_.result[0][b]})->value;
  }

  schedule const& schedule_;
  requirements required_;
  units units_;
  bracketings values_;
  std::vector<std::size_t> first_slot_;  // of each rank; one more entry for the end
  std::vector<slot_state> slots_;
  std::unordered_map<bracketings::value, std::string> repeats_;
  std::vector<std::int64_t> sent_, received_, combined_;
  std::size_t reader_ = 0;
  bool uniform_ = true, ordered_ = true;
};

}  // namespace

fraction volume_bound(verb what, rank_t ranks) {
  if (detail::is_barrier(what)) return 0;
  fraction const others(std::int64_t{ranks} - 1, ranks);
  if (detail::is_of_pieces(what)) return others;
  if (detail::folds_for_all(what)) return others * 2;
  return ranks > 1 ? 1 : 0;  // a whole vector enters or leaves some rank
}

void check_shape(schedule const& s) {
  if (s.ranks == 0) throw schedule_error("a schedule needs at least one rank");
  check_blocks(s);
  if (s.result.size() != s.ranks)
    throw schedule_error("the results are not those of " + std::to_string(s.ranks) + " ranks");
  for (auto const& slots : s.result)
    if (slots.size() != s.blocks.size())
      throw schedule_error("a rank's results are not those of " + std::to_string(s.blocks.size()) + " blocks");
}

properties validate(schedule const& s) {
  check_shape(s);
  properties found;
  found.volume_bound = volume_bound(s.verb, s.ranks);
  std::vector<event> events = events_of(s);
  check_assignments(s, events);
  sort_by_step_and_rank(events, s);
  count_peers(s, events, found);
  sort_by(events, s.blocks.size(), [](event const& e) { return e.made->block; });

  tracer trace(s, events);
  std::size_t first = 0;
  for (block_t b = 0; b < s.blocks.size(); ++b) {
    std::size_t last = first;
    while (last < events.size() && events[last].made->block == b) ++last;
    trace.trace(b, std::span(events).subspan(first, last - first));
    first = last;
  }
  trace.report(found);
  return found;
}

}  // namespace coset::schedule
