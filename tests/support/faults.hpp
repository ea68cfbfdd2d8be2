// SPDX-License-Identifier: Apache-2.0
// Random runs in which one rank does one thing wrong, with views, requests, split teams and plans alive, and calls of all
// kinds mixed. Everything is drawn from a seed, so that all ranks, of all processes, do the same but for that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/ways.hpp"

namespace coset::team_test {

enum class fault : std::uint8_t {
  none,
  exception,  // 1
  exception_of_no_class,
  exception_in_an_operation,
  exception_in_a_started_operation,
  abort,
  abort_by_a_stranger,
  other_length,
  length_far_apart,
  other_verb,
  other_root,  // 10
  other_type,
  other_operation,
  started_instead_of_called,
  called_instead_of_started,
  planned_instead_of_called,
  in_place_or_not,
  whole_instead_of_split,
  split_instead_of_whole,
  other_split,
  other_counts,  // 20
  calls_once_more,
  leaves_out_a_call,
  leaves,
  leaves_under_way,
  gives_up_a_request,
  misses_a_deadline,
  overlaps,
  lengths_of_its_own_that_differ,
  view_of_other_length,
  view_instead_of_call,  // 30
  collective_in_an_operation,
  run_in_run,
  old_request,
  old_split,
  barrier_before,
  count
};

struct fault_options {
  bool one_process = true;  ///< splits, views, one result for all
  rank_t most_pieces = 64;  ///< counts that are long enough to go in segments where those are short: × 1000
};

/// What a rank keeps over runs: whoever touches it must not matter.
struct kept_things {
  std::vector<std::unique_ptr<journey>> journeys;
  std::vector<request> requests;
  std::vector<member> splits;
  std::span<double const> view;

  /// After a run: the arrays are the caller's again.
  void let_go(std::uint64_t choice) {
    for (auto& j : journeys) requests.push_back(std::move(j->under_way));
    journeys.clear();
    view = {};
    if (choice % 3 == 0) requests.clear();
    if (choice % 5 == 0) splits.clear();
  }
};

/// One run.
class faulty_run {
 public:
  faulty_run(std::uint64_t seed, rank_t ranks, fault_options const& options)
      : options_(options), what_(fault(seed % std::size_t(fault::count))), seed_(seed) {
    std::mt19937_64 choices(seed);
    unlucky_ = static_cast<rank_t>(choices() % ranks);
    splits_ = options.one_process && choices() % 2 == 0;
    for (int k = 0; k < steps; ++k) ways_.push_back(drawn(choices, ranks));
    when_ = static_cast<int>(choices() % steps);
    if (what_ == fault::planned_instead_of_called) ways_[std::size_t(when_)].how = manner::blocking;
    waits_ = choices();
    keeps_ = choices() % 2 == 0;
  }

  std::string text() const {
    return "fault " + std::to_string(int(what_)) + " on rank " + std::to_string(unlucky_) + " at step " +
           std::to_string(when_) + " (" + team_test::text(ways_[std::size_t(when_)]) + "), seed " +
           std::to_string(seed_);
  }
  /// Before the run, by one thread for each team.
  void make_plans(plan_table& plans) const {
    for (way w : ways_) {
      if (w.in_split || w.what == verb::allreduce_view || w.what == verb::barrier) continue;
      w.how = manner::planned;
      plans.make(w);
    }
  }

  /// What a rank does. `ranks` may be aborted and run. Throws what the team does; logic_error for a wrong value.
  void go_through(member& me, kept_things& kept, plan_table const* plans, std::function<void()> const& abort,
                  std::function<void()> const& run_again) const {
    std::optional<member> part;
    if (splits_) part.emplace(me.split(0));
    std::vector<std::unique_ptr<journey>> under_way;
    try {
      for (int k = 0; k < steps; ++k) {
        way w = ways_[std::size_t(k)];
        if (plans == nullptr && w.how == manner::planned) w.how = manner::blocking;
        bool const mine = me.rank() == unlucky_ && k == when_;
        if (mine && strike(me, part, w, k, kept, under_way, abort, run_again)) return;
        if (mine && what_ == fault::leaves_out_a_call) continue;
        set_off(me, part, w, k, plans, under_way);
        if (mine && misses(me, part, w, under_way)) return;
        if ((waits_ >> k & 1) != 0) complete(under_way);
      }
      complete(under_way);
    } catch (...) {
      for (auto& j : under_way) kept.journeys.push_back(std::move(j));
      if (part && keeps_) kept.splits.push_back(std::move(*part));
      throw;
    }
    if (part && keeps_) kept.splits.push_back(std::move(*part));
  }

 private:
  static constexpr int steps = 8;

  way drawn(std::mt19937_64& choices, rank_t ranks) const {
    constexpr std::array verbs{verb::allreduce, verb::reduce,  verb::reduce_scatter, verb::allgather,
                               verb::broadcast, verb::scan,    verb::exclusive_scan, verb::barrier,
                               verb::gather,    verb::scatter, verb::all_to_all,     verb::allreduce_view};
    way w;
    w.what = verbs[choices() % (options_.one_process ? verbs.size() : verbs.size() - 1)];
    constexpr std::array lengths{1, 7, 100, 3000};
    w.count = choices() % 8 == 0 ? options_.most_pieces * 1000 : std::size_t(lengths[choices() % lengths.size()]);
    w.root = is_rooted(w.what) ? static_cast<rank_t>(choices() % ranks) : 0;
    w.how = manner(choices() % 3);
    w.in_split = splits_ && choices() % 3 == 0;
    w.in_place = may_be_in_place(w.what) && choices() % 2 == 0;
    bool const is_call_only = w.what == verb::allreduce_view || w.what == verb::barrier || w.in_split;
    if (w.what == verb::allreduce_view || (is_call_only && w.how == manner::planned)) w.how = manner::blocking;
    if (w.what == verb::barrier) w.count = 1;
    return w;
  }

  void set_off(member& me, std::optional<member>& part, way const& w, int k, plan_table const* plans,
               std::vector<std::unique_ptr<journey>>& under_way) const {
    auto& j = *under_way.emplace_back(
        std::make_unique<journey>(w, seed_ + static_cast<std::uint64_t>(k), me.rank(), me.size()));
    j.set_off(w.in_split ? *part : me, plans);
    if (w.how == manner::started) return;
    check(j);
    under_way.pop_back();
  }

  void complete(std::vector<std::unique_ptr<journey>>& under_way) const {
    for (auto& j : under_way) {
      j->under_way.wait();
      check(*j);
    }
    under_way.clear();
  }

  /// Whose calls are one ahead or behind may well get the sum of other arrays than it thinks: of calls that are alike.
  void check(journey const& j) const {
    bool const gives_up = what_ == fault::gives_up_a_request || what_ == fault::misses_a_deadline;
    bool const makes_one_more = gives_up && ways_[std::size_t(when_)].how != manner::started;
    bool const may_be_shifted = makes_one_more || what_ == fault::leaves_out_a_call ||
                                what_ == fault::calls_once_more || what_ == fault::barrier_before;
    if (std::string const wrong = j.fault(); !wrong.empty() && !may_be_shifted) throw std::logic_error(wrong);
  }

  /// True where the rank ends here.
  bool strike(member& me, std::optional<member>& part, way& w, int k, kept_things& kept,
              std::vector<std::unique_ptr<journey>>& under_way, std::function<void()> const& abort,
              std::function<void()> const& run_again) const {
    switch (what_) {
      case fault::exception:
        throw std::range_error("of the user");
      case fault::exception_of_no_class:
        throw 42;
      case fault::abort:
        abort();
        return false;
      case fault::abort_by_a_stranger:
        std::thread(abort).join();
        return false;
      case fault::leaves:
        return true;
      case fault::leaves_under_way:
        for (auto& j : under_way) kept.journeys.push_back(std::move(j));
        return true;
      case fault::run_in_run:
        run_again();
        return false;
      case fault::old_request:
        for (request& r : kept.requests) static_cast<void>(r.test());
        return false;
      case fault::old_split:
        if (!kept.splits.empty()) barrier(kept.splits.front());
        return false;
      case fault::barrier_before:
        start_barrier(me).wait();
        return false;
      default:
        change(w, me.size());
        call_wrongly(me, part, k);
        return false;
    }
  }

  /// Another way than everybody else's.
  void change(way& w, rank_t ranks) const {
    bool const is_simple = w.what != verb::barrier && w.what != verb::allreduce_view;
    if (what_ == fault::other_length) ++w.count;
    if (what_ == fault::length_far_apart) w.count = w.count > 1000 ? 1 : options_.most_pieces * 1000;
    if (what_ == fault::other_verb) w.what = w.what == verb::scan ? verb::allreduce : verb::scan;
    if (what_ == fault::other_root && is_rooted(w.what)) w.root = (w.root + 1) % ranks;
    if (what_ == fault::started_instead_of_called && is_simple) w.how = manner::started;
    if (what_ == fault::called_instead_of_started) w.how = manner::blocking;
    if (what_ == fault::planned_instead_of_called && options_.one_process && is_simple && !w.in_split)
      w.how = manner::planned;
    if (what_ == fault::in_place_or_not && may_be_in_place(w.what)) w.in_place = !w.in_place;
    if (what_ == fault::whole_instead_of_split && w.in_split) {
      w.in_split = false;
      w.how = manner::started;
    }
    if (what_ == fault::split_instead_of_whole) w.in_split = splits_;
    if (what_ == fault::view_instead_of_call && options_.one_process) w.what = verb::allreduce_view;
    if (what_ == fault::view_of_other_length && w.what == verb::allreduce_view) w.count += 5000;
    bool const is_changed_plan = what_ == fault::other_length || what_ == fault::length_far_apart ||
                                 what_ == fault::other_verb || what_ == fault::other_root ||
                                 what_ == fault::in_place_or_not || what_ == fault::view_instead_of_call;
    if (w.how == manner::planned && (is_changed_plan || !is_simple || w.in_split)) w.how = manner::blocking;
    if (w.what == verb::allreduce_view) w.how = manner::blocking;
    if (!may_be_in_place(w.what)) w.in_place = false;
    if (!is_rooted(w.what)) w.root = 0;
  }

  /// A call that nobody else makes, before the one that all make.
  void call_wrongly(member& me, std::optional<member>& part, int k) const {
    std::vector<double> items(20, 1), out(20);
    auto const throws = [](double, double) -> double { throw std::runtime_error("in the operation"); };
    auto const nests = [&](double a, double b) {
      barrier(me);
      return a + b;
    };
    switch (what_) {
      case fault::exception_in_an_operation:
        return allreduce(me, items, throws);
      case fault::exception_in_a_started_operation:
        return start_allreduce(me, items, throws).wait();
      case fault::collective_in_an_operation:
        return allreduce(me, items, nests);
      case fault::other_type:
        return allreduce(me, items);
      case fault::other_operation:
        return allreduce(me, items, maximum{});
      case fault::other_counts: {
        std::vector<std::size_t> counts(me.size(), 0);
        counts[me.rank()] = 20;
        return allgather(me, items, out, counts);
      }
      case fault::calls_once_more:
        return barrier(me);
      case fault::overlaps:
        return allreduce(me, std::span(items).first(10), std::span(items).subspan(static_cast<std::size_t>(k), 10));
      case fault::lengths_of_its_own_that_differ:
        return allreduce(me, items, std::span(out).first(7));
      case fault::other_split:
        if (splits_) static_cast<void>(part->split(1));
        return;
      default:
        return;
    }
  }

  /// After its call. True where the rank ends here.
  bool misses(member& me, std::optional<member>&, way const& w,
              std::vector<std::unique_ptr<journey>>& under_way) const {
    if (what_ != fault::gives_up_a_request && what_ != fault::misses_a_deadline) return false;
    if (w.how != manner::started) {
      journey extra({.how = manner::started, .count = 100}, seed_, me.rank(), me.size());
      extra.set_off(me, nullptr);
      return false;  // given up here
    }
    if (what_ == fault::misses_a_deadline) return !under_way.back()->under_way.wait_for(std::chrono::nanoseconds(1));
    under_way.pop_back();
    return false;
  }

  fault_options const options_;
  fault const what_;
  std::uint64_t const seed_;
  rank_t unlucky_ = 0;
  bool splits_ = false;
  int when_ = 0;
  std::uint64_t waits_ = 0;
  bool keeps_ = false;
  std::vector<way> ways_;
};

/// What a team does that works, in all the ways that share something with what may have failed before.
inline void check_everything(member& me, std::uint64_t seed, bool one_process) {
  auto const check = [&](member& in, way const& w) {
    journey j(w, seed, in.rank(), in.size());
    j.set_off(in, nullptr);
    j.under_way.wait();
    if (std::string const wrong = j.fault(); !wrong.empty()) throw std::logic_error("afterwards, " + wrong);
  };
  check(me, {.what = verb::allreduce, .count = 1 + seed % 300});
  check(me, {.what = verb::scan, .how = manner::started, .count = 1 + seed % 3000});
  check(me, {.what = verb::reduce, .count = 50, .root = static_cast<rank_t>(seed % me.size())});
  check(me, {.what = verb::allgather, .count = 1 + seed % 5000});
  if (!one_process) return;
  check(me, {.what = verb::allreduce_view, .count = 1 + seed % 4 * 3000});
  member part = me.split(0);
  check(part, {.what = verb::broadcast, .count = 9, .root = me.size() - 1});
  check(part, {.what = verb::allreduce_view, .count = seed % 2 == 0 ? 10U : 1000U});
  barrier(me);
}

}  // namespace coset::team_test
