// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/event_loop.hpp"

#include <cmath>

#include "base/text/format.hpp"

namespace coset::cache {
namespace {

/// Long folds take turns on links in pieces: of at least so many bytes of all arrays, and at most so many pieces.
constexpr double least_piece = 16 * 1024;
constexpr double most_pieces = 16;
/// Folds of no more lines overlap with what comes next: a core looks some hundreds of instructions ahead.
constexpr double most_ahead = 16 * line_bytes;

}  // namespace

event_loop::event_loop(machine const& m, work const& w)
    : machine_(m),
      work_(w),
      arrays_in_(m.of_arrays(w.array_bytes)),
      directory_(m, w.cells),
      link_free_(m.links(), 0.0),
      cores_(m.ranks()),
      flags_(w.flags) {}

std::vector<std::vector<double>> event_loop::run(std::vector<leg> const& legs, double begin) {
  legs_ = &legs;
  ends_.assign(legs.size(), std::vector<double>(machine_.ranks(), begin));
  for (rank_t r = 0; r < machine_.ranks(); ++r) {
    core_state& me = cores_[r];
    me.leg = me.act = 0;
    me.ready = me.folded = me.stored = begin;
    wake(r, begin);
  }
  while (!events_.empty()) {
    event const next = events_.top();
    events_.pop();
    ++counts_.events;
    step(next.rank, next.time);
  }
  for (rank_t r = 0; r < machine_.ranks(); ++r)
    if (cores_[r].leg != legs.size())
      throw schedule_error(text::format("simulated rank {} waits for ever in act {}", r, cores_[r].act));
  return std::move(ends_);
}

double event_loop::settled() const {
  double latest = 0;
  for (core_state const& one : cores_) latest = std::max({latest, one.stored, known(one)});
  return latest;
}

void event_loop::step(rank_t r, double now) {
  core_state& me = cores_[r];
  while (me.leg < legs_->size() && me.act == script_of(r).acts.size()) end_leg(r, now);
  if (me.leg == legs_->size()) return;
  act const& what = script_of(r).acts[me.act];
  // A core goes on before it knows what it looks for, as if it were there; only an atomic increment does not.
  if (what.what == act_kind::count && now < known(me)) return wake(r, known(me));
  switch (what.what) {
    case act_kind::look:
      return look(r, what, now);
    case act_kind::post:
      post(r, what.line, value_of(me, what), now);
      return go_on(r, now + machine_.prices().act);
    case act_kind::count:
      return count(r, what, now);
    case act_kind::fold:
      return fold(r, what, now);
  }
}

void event_loop::end_leg(rank_t r, double now) {
  core_state& me = cores_[r];
  ends_[me.leg][r] = std::max(now, known(me));
  ++me.leg;
  me.act = 0;
}

void event_loop::go_on(rank_t r, double time) {
  ++cores_[r].act;
  ++counts_.acts;
  wake(r, time);
}

void event_loop::count_line(served const& how) {
  if (how.moves) ++counts_.lines[static_cast<std::size_t>(how.from)];
}

/// One line over its links; it is short, and holds nobody up but those behind it.
void event_loop::send_line(served const& how, rank_t reader) {
  way const over = machine_.between(how.holder, reader, true);
  for (std::uint32_t const l : over.links())
    link_free_[l] = std::max(link_free_[l], how.begin) + line_bytes * machine_.seconds_per_byte(l);
}

void event_loop::look(rank_t r, act const& a, double now) {
  core_state& me = cores_[r];
  served const how = directory_.read(a.line, r, now);
  count_line(how);
  if (how.moves) send_line(how, r);
  double const latency = how.is_here ? 0 : machine_.line(how.from).read;
  flag& f = flags_[a.line];
  bool const is_there = f.value >= value_of(me, a);
  double const here = std::max(how.begin, is_there ? f.visible : now) + latency + machine_.prices().act;
  if (!how.is_here) f.farthest = std::max(f.farthest, how.from);
  if (!is_there) {
    me.waits = true;
    f.waiters.push_back({r, here});
    return;
  }
  me.ready = std::max(me.ready, here);
  // Having waited, a core knows nothing of what comes next: the end of a wait is a mispredicted branch.
  // Nor does one that comes so late that it nearly had to: it does not overtake those that wait.
  double const ahead = now + std::max(machine_.prices().act, latency / machine_.prices().looks);
  double const next = me.waits ? here : std::max(ahead, std::min(here, f.visible + latency + machine_.prices().act));
  me.waits = false;
  go_on(r, next);
}

/// Returns when the value is visible: after all that was to be known before it.
double event_loop::post(rank_t r, std::uint32_t line, std::int64_t value, double now) {
  core_state& me = cores_[r];
  served const how = directory_.write(line, r, std::max({now, me.stored, known(me)}));
  count_line(how);
  flag& f = flags_[line];
  level const farthest = std::max(f.farthest, how.from);
  double const visible =
      how.begin + (farthest == level::core && how.is_here ? machine_.prices().act : machine_.line(farthest).own);
  me.stored = f.visible = visible;
  f.value = value;
  for (waiter const& w : std::exchange(f.waiters, {})) wake(w.rank, std::max(visible, w.since));
  return visible;
}

/// An increment returns what was there, so that the core has to wait for it.
void event_loop::count(rank_t r, act const& a, double now) {
  core_state& me = cores_[r];
  served const how = directory_.write(a.line, r, std::max(now, me.stored));
  count_line(how);
  line_costs const& costs = machine_.line(how.from);
  double const done =
      how.begin + (how.is_here ? 0 : std::max(costs.own, how.moves ? costs.read : 0)) + machine_.prices().act;
  me.stored = me.ready = done;
  flag& f = flags_[a.line];
  bool const is_last = ++f.counted == machine_.ranks();
  if (is_last) {
    f.counted = 0;
    post(r, a.line + 1, value_of(me, a), done);
  }
  go_on(r, done);
}

void event_loop::fold(rank_t r, act const& a, double now) {
  core_state& me = cores_[r];
  fold_state& f = me.fold;
  if (f.pieces == 0) {
    begin_fold(r, a, now);
    if (f.bytes <= most_ahead) {
      double const busy = move_piece(f, now) - now;
      end_fold(me, now + busy + f.latency);
      return go_on(r, now + machine_.prices().fold + std::max(busy, f.latency / machine_.prices().looks));
    }
    if (f.latency > 0) return wake(r, now + f.latency);
  }
  double const end = move_piece(f, now);
  if (++f.done < f.pieces) return wake(r, end);
  end_fold(me, end);
  go_on(r, end + machine_.prices().fold);
}

/// Returns when the core and all links are done with it.
double event_loop::move_piece(fold_state const& f, double now) {
  double busy = f.core_seconds / f.pieces, end = now;
  for (transfer const& t : f.transfers) {
    busy += t.core_seconds / f.pieces;
    for (std::uint32_t const l : t.over.links()) {
      link_free_[l] = std::max(link_free_[l], now) + t.bytes / f.pieces * machine_.seconds_per_byte(l);
      end = std::max(end, link_free_[l]);
    }
  }
  return std::max(end, now + busy);
}

void event_loop::end_fold(core_state& me, double end) {
  me.folded = std::max(end, known(me));
  me.stored = std::max(me.stored, me.folded + me.fold.owning);
  me.fold.pieces = 0;
}

void event_loop::begin_fold(rank_t r, act const& a, double now) {
  fold_state& f = cores_[r].fold;
  f.core_seconds = f.latency = f.owning = f.bytes = f.done = 0;
  f.transfers.clear();
  script const& all = script_of(r);
  for (std::uint32_t k = a.first; k < a.first + a.sources + a.destinations; ++k) {
    bool const is_source = k < a.first + a.sources;
    for (std::uint32_t c = all.ranges[k].first; c < all.ranges[k].first + all.ranges[k].count; ++c) {
      double const here = static_cast<double>(work_.cells[c].lines) * line_bytes;
      f.bytes += here;
      if (is_source) f.core_seconds += here * machine_.prices().combine;
      if (arrays_in_ == residence::memory)
        is_source ? read_memory(r, c, here) : write_memory(r, c, here, a.streams);
      else
        is_source ? read_cell(r, c, here, now) : write_cell(r, c, here, now);
    }
  }
  f.pieces = std::floor(std::clamp(f.bytes / least_piece, 1.0, most_pieces));
}

/// A byte of an array that nobody else has touched.
double event_loop::own_seconds() const {
  return machine_.stream_seconds(arrays_in_ == residence::l3 ? machine_.line(level::l3).read : 0);
}

void event_loop::read_cell(rank_t r, std::uint32_t c, double bytes, double now) {
  fold_state& f = cores_[r].fold;
  served const how = directory_.read(c, r, now);
  if (how.is_here) {
    f.latency = std::max(f.latency, cores_[r].folded - now);  // the core may have made it itself
    f.core_seconds += bytes * own_seconds();
    return;
  }
  counts_.lines[static_cast<std::size_t>(how.from)] += work_.cells[c].lines;
  double const latency = machine_.line(how.from).read;
  f.latency = std::max(f.latency, how.begin - now + latency);
  f.transfers.push_back({bytes, bytes * machine_.stream_seconds(latency),
                         machine_.between(how.holder, r, arrays_in_ == residence::own_cache)});
}

/// Stores are not waited for; what comes after them becomes visible after them.
void event_loop::write_cell(rank_t r, std::uint32_t c, double bytes, double now) {
  fold_state& f = cores_[r].fold;
  served const how = directory_.write(c, r, now);
  if (how.is_here) {
    f.core_seconds += bytes * own_seconds();
    return;
  }
  double const latency = machine_.line(how.from).own;
  f.owning = std::max(f.owning, how.begin - now + latency);
  way over;
  if (how.moves) {
    counts_.lines[static_cast<std::size_t>(how.from)] += work_.cells[c].lines;
    over = machine_.between(how.holder, r, arrays_in_ == residence::own_cache);
  }
  double const per_byte = how.is_written ? machine_.stream_seconds(latency) : machine_.store_seconds(latency);
  f.transfers.push_back({bytes, bytes * per_byte, over});
}

void event_loop::read_memory(rank_t r, std::uint32_t c, double bytes) {
  fold_state& f = cores_[r].fold;
  double const latency = machine_.memory_latency(work_.cells[c].home, r);
  counts_.memory_lines += work_.cells[c].lines;
  f.latency = std::max(f.latency, latency);
  f.transfers.push_back(
      {bytes, bytes * machine_.stream_seconds(latency), machine_.from_memory(work_.cells[c].home, r)});
}

/// A line is fetched before it is written, unless it is stored past the caches; and goes back.
void event_loop::write_memory(rank_t r, std::uint32_t c, double bytes, bool streams) {
  if (!streams) read_memory(r, c, bytes);
  counts_.memory_lines += work_.cells[c].lines;
  cores_[r].fold.transfers.push_back(
      {bytes, bytes * machine_.stream_seconds(0), machine_.from_memory(work_.cells[c].home, r)});
}

}  // namespace coset::cache
