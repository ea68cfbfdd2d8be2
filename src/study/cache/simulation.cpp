// SPDX-License-Identifier: Apache-2.0
#include "study/cache/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "study/cache/directory.hpp"
#include "text/format.hpp"

namespace coset::cache {
namespace {

/// Long folds take turns on links in pieces: of at least so many bytes of all arrays, and at most so many pieces.
constexpr double least_piece = 16 * 1024;
constexpr double most_pieces = 16;
/// Folds of no more lines overlap with what comes next: a core looks some hundreds of instructions ahead.
constexpr double most_ahead = 16 * line_bytes;

/// What one fold moves from or to one place.
struct transfer {
  double bytes;
  double core_seconds;  ///< how long the core is busy with it
  way over;
};

/// A fold under way.
struct fold_state {
  std::vector<transfer> transfers;
  double core_seconds = 0;  ///< of what is here already, and of combining
  double latency = 0;       ///< until the first lines are here
  double owning = 0;        ///< after the end, until all that is written is the core's own
  double bytes = 0;
  double pieces = 0, done = 0;
};

/// Scripts that ranks execute one after the other without meeting, and what the values of each begin with.
struct leg {
  std::vector<script> const* scripts;
  std::int64_t base;
};

struct core_state {
  std::size_t leg = 0, act = 0;
  double ready = 0;    ///< when all that has been looked for is known
  double folded = 0;   ///< when the results of all folds are
  double stored = 0;   ///< when all that has been stored is visible: stores become so in their order
  bool waits = false;  ///< has looked in vain
  fold_state fold;
};

struct waiter {
  rank_t rank;
  double since;
};

struct flag {
  std::int64_t value = 0;
  rank_t counted = 0;
  std::vector<waiter> waiters = {};
};

struct event {
  double time;
  std::uint64_t number;
  rank_t rank;
  /// The order of a queue whose greatest comes first.
  friend bool operator<(event const& a, event const& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

class event_loop {
 public:
  event_loop(machine const& m, work const& w)
      : machine_(m),
        work_(w),
        arrays_in_(m.of_arrays(w.array_bytes)),
        directory_(m, w.cells),
        link_free_(m.links(), 0.0),
        cores_(m.ranks()),
        flags_(w.flags) {}

  /// All ranks begin at `begin`. Returns when each has ended each leg: [leg][rank].
  std::vector<std::vector<double>> run(std::vector<leg> const& legs, double begin) {
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

  /// When everything that has been stored is visible.
  double settled() const {
    double latest = 0;
    for (core_state const& one : cores_) latest = std::max({latest, one.stored, known(one)});
    return latest;
  }

  simulated const& counts() const { return counts_; }
  void forget_counts() { counts_ = {}; }

 private:
  void wake(rank_t r, double time) { events_.push({time, event_number_++, r}); }

  void step(rank_t r, double now) {
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

  script const& script_of(rank_t r) const { return (*(*legs_)[cores_[r].leg].scripts)[r]; }
  std::int64_t value_of(core_state const& me, act const& a) const { return (*legs_)[me.leg].base + a.value; }

  static double known(core_state const& me) { return std::max(me.ready, me.folded); }

  void end_leg(rank_t r, double now) {
    core_state& me = cores_[r];
    ends_[me.leg][r] = std::max(now, known(me));
    ++me.leg;
    me.act = 0;
  }

  void go_on(rank_t r, double time) {
    ++cores_[r].act;
    ++counts_.acts;
    wake(r, time);
  }

  void count_line(served const& how) {
    if (how.moves) ++counts_.lines[static_cast<std::size_t>(how.from)];
  }

  /// One line over its links; it is short, and holds nobody up but those behind it.
  void send_line(served const& how, rank_t reader) {
    way const over = machine_.between(how.holder, reader, true);
    for (std::uint32_t const l : over.links())
      link_free_[l] = std::max(link_free_[l], how.begin) + line_bytes * machine_.seconds_per_byte(l);
  }

  void look(rank_t r, act const& a, double now) {
    core_state& me = cores_[r];
    served const how = directory_.read(a.line, r, now);
    count_line(how);
    if (how.moves) send_line(how, r);
    double const latency = how.is_here ? 0 : machine_.line(how.from).read;
    double const here = how.begin + latency + machine_.prices().act;
    flag& f = flags_[a.line];
    if (f.value < value_of(me, a)) {
      me.waits = true;
      f.waiters.push_back({r, here});
      return;
    }
    me.ready = std::max(me.ready, here);
    // Having waited, a core knows nothing of what comes next: the end of a wait is a mispredicted branch.
    double const next = me.waits ? here : now + std::max(machine_.prices().act, latency / machine_.prices().looks);
    me.waits = false;
    go_on(r, next);
  }

  /// Returns when the value is visible: after all that was to be known before it.
  double post(rank_t r, std::uint32_t line, std::int64_t value, double now) {
    core_state& me = cores_[r];
    served const how = directory_.write(line, r, std::max({now, me.stored, known(me)}));
    count_line(how);
    double const visible = how.begin + (how.is_here ? machine_.prices().act : machine_.line(how.from).own);
    me.stored = visible;
    flag& f = flags_[line];
    f.value = value;
    for (waiter const& w : std::exchange(f.waiters, {})) wake(w.rank, std::max(visible, w.since));
    return visible;
  }

  /// An increment returns what was there, so that the core has to wait for it.
  void count(rank_t r, act const& a, double now) {
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

  void fold(rank_t r, act const& a, double now) {
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
  double move_piece(fold_state const& f, double now) {
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

  static void end_fold(core_state& me, double end) {
    me.folded = std::max(end, known(me));
    me.stored = std::max(me.stored, me.folded + me.fold.owning);
    me.fold.pieces = 0;
  }

  void begin_fold(rank_t r, act const& a, double now) {
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
  double own_seconds() const {
    return machine_.stream_seconds(arrays_in_ == residence::l3 ? machine_.line(level::l3).read : 0);
  }

  void read_cell(rank_t r, std::uint32_t c, double bytes, double now) {
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
  void write_cell(rank_t r, std::uint32_t c, double bytes, double now) {
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
    f.transfers.push_back({bytes, bytes * machine_.store_seconds(latency), over});
  }

  void read_memory(rank_t r, std::uint32_t c, double bytes) {
    fold_state& f = cores_[r].fold;
    double const latency = machine_.memory_latency(work_.cells[c].home, r);
    counts_.memory_lines += work_.cells[c].lines;
    f.latency = std::max(f.latency, latency);
    f.transfers.push_back(
        {bytes, bytes * machine_.stream_seconds(latency), machine_.from_memory(work_.cells[c].home, r)});
  }

  /// A line is fetched before it is written, unless it is stored past the caches; and goes back.
  void write_memory(rank_t r, std::uint32_t c, double bytes, bool streams) {
    if (!streams) read_memory(r, c, bytes);
    counts_.memory_lines += work_.cells[c].lines;
    cores_[r].fold.transfers.push_back(
        {bytes, bytes * machine_.stream_seconds(0), machine_.from_memory(work_.cells[c].home, r)});
  }

  machine const& machine_;
  work const& work_;
  residence const arrays_in_;
  directory directory_;
  std::vector<double> link_free_;
  std::vector<core_state> cores_;
  std::vector<flag> flags_;
  std::priority_queue<event> events_;
  std::uint64_t event_number_ = 0;
  std::vector<leg> const* legs_ = nullptr;
  std::vector<std::vector<double>> ends_;
  simulated counts_;
};

double latest(std::vector<double> const& times) { return *std::ranges::max_element(times); }
double mean_of(std::vector<double> const& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

/// Both parities have been used once before the calls that count, one of each.
constexpr std::int64_t untimed = 2, timed = 2;

simulated simulate_calls(machine const& m, work const& w) {
  event_loop loop(m, w);
  simulated result;
  double now = 0, last = 0, mean = 0;
  for (std::int64_t n = 1; n <= untimed + timed; ++n) {
    loop.run({{&w.writes_input, 0}}, now);
    now = loop.settled();  // all meet
    loop.forget_counts();
    auto const ends = loop.run({{&w.call[static_cast<std::size_t>(n % 2)], (n - 1) * w.span}}, now).back();
    result = loop.counts();
    if (n > untimed) {
      last += (latest(ends) - now) / timed;
      mean += (mean_of(ends) - now) / timed;
    }
    loop.run({{&w.reads_output, 0}}, loop.settled());
    now = loop.settled();
  }
  result.last = last;
  result.mean = mean;
  return result;
}

simulated simulate_cycles(machine const& m, work const& w) {
  event_loop loop(m, w);
  std::vector<leg> legs;
  for (std::int64_t n = 1; n <= untimed + timed; ++n) {
    legs.push_back({&w.writes_input, 0});
    legs.push_back({&w.call[static_cast<std::size_t>(n % 2)], (n - 1) * w.span});
    legs.push_back({&w.reads_output, 0});
  }
  auto const ends = loop.run(legs, 0);
  auto const &first = ends[3 * untimed - 1], &last = ends.back();
  simulated result = loop.counts();
  result.last = (latest(last) - latest(first)) / timed;
  result.mean = (mean_of(last) - mean_of(first)) / timed;
  constexpr std::uint64_t operations = untimed + timed;
  result.acts /= operations;
  result.events /= operations;
  for (auto& lines : result.lines) lines /= operations;
  result.memory_lines /= operations;
  return result;
}

}  // namespace

simulated simulate(machine const& m, work const& w, timing what) {
  for (auto const* scripts : {&w.writes_input, &w.call[0], &w.call[1], &w.reads_output})
    if (scripts->size() != m.ranks())
      throw argument_error(text::format("scripts of {} ranks on a machine of {}", scripts->size(), m.ranks()));
  return what == timing::call ? simulate_calls(m, w) : simulate_cycles(m, w);
}

}  // namespace coset::cache
