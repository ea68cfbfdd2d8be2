// SPDX-License-Identifier: Apache-2.0
// The scripts of all ranks in virtual time. Of events at one time the one that was caused first comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "lab/cache/directory.hpp"
#include "lab/cache/simulation.hpp"

namespace coset::cache {

/// Scripts that ranks execute one after the other without meeting, and what the values of each begin with.
struct leg {
  std::vector<script> const* scripts;
  std::int64_t base;
};

class event_loop {
 public:
  event_loop(machine const&, work const&);

  /// All ranks begin at `begin`. Returns when each has ended each leg: [leg][rank]. Throws schedule_error if ranks wait for
  /// ever.
  std::vector<std::vector<double>> run(std::vector<leg> const& legs, double begin);

  /// When everything that has been stored is visible.
  double settled() const;

  simulated const& counts() const { return counts_; }
  void forget_counts() { counts_ = {}; }

 private:
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
    double visible = 0;  ///< when its value became so
    level farthest =
        level::core;  ///< of all that have ever looked: a post is to reach them, whether they wait or are late
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

  script const& script_of(rank_t r) const { return (*(*legs_)[cores_[r].leg].scripts)[r]; }
  std::int64_t value_of(core_state const& me, act const& a) const { return (*legs_)[me.leg].base + a.value; }
  static double known(core_state const& me) { return std::max(me.ready, me.folded); }

  void wake(rank_t r, double time) { events_.push({time, event_number_++, r}); }
  void step(rank_t r, double now);
  void end_leg(rank_t r, double now);
  void go_on(rank_t r, double time);

  void count_line(served const&);
  void send_line(served const&, rank_t reader);
  void look(rank_t r, act const&, double now);
  double post(rank_t r, std::uint32_t line, std::int64_t value, double now);
  void count(rank_t r, act const&, double now);

  void fold(rank_t r, act const&, double now);
  void begin_fold(rank_t r, act const&, double now);
  double move_piece(fold_state const&, double now);
  static void end_fold(core_state&, double end);
  double own_seconds() const;
  void read_cell(rank_t r, std::uint32_t cell, double bytes, double now);
  void write_cell(rank_t r, std::uint32_t cell, double bytes, double now);
  void read_memory(rank_t r, std::uint32_t cell, double bytes);
  void write_memory(rank_t r, std::uint32_t cell, double bytes, bool streams);

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

}  // namespace coset::cache
