// SPDX-License-Identifier: Apache-2.0
// The loops around a collective: the same for every contestant, so that only the collective differs.
#pragma once

#include <algorithm>
#include <concepts>

#include "command/measure/harness/contestant.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/machine/clock.hpp"
#include "command/measure/machine/flag_barrier.hpp"
#include "coset/detail/line_spacing.hpp"

namespace coset::measure {

/// The preparation if each input has been rewritten before the collective: nothing.
struct nothing_to_prepare {
  void operator()(rank_t) const {}
};

/// Plays one burst. Iterations are timed in groups, at most `most_samples` of them.
class stage {
 public:
  stage(workload const& work, burst_order const& order)
      : work_(work),
        order_(order),
        group_(std::max<std::size_t>(1, order.iterations / most_samples)),
        logs_(work.shape().ranks),
        together_(work.shape().ranks) {
    for (auto& l : logs_) l.spent.reserve(samples());
  }

  /// Plays one rank. `collective(k)` does iteration k and returns where this rank finds the result.
  template <class Collective>
  void play_rank(rank_t rank, Collective&& verb) {
    auto const prepare = [&](std::size_t k) { work_.rewrite(rank, k); };
    auto const inspect = [&](std::size_t k, std::byte const* result) {
      logs_[rank].wrong += work_.wrong(rank, result, k);
    };
    if (order_.timing != timing::call) {
      together_.arrive_and_wait(rank);
      time_cycles(logs_[rank], [&](std::size_t k) {
        if (rewrites(order_.timing, k)) prepare(k);
        auto const result = verb(k);
        if (reads(order_.timing, k)) inspect(input_of(order_.timing, k), result);
      });
    } else {
      time_calls(logs_[rank], verb, inspect, [&](std::size_t k) {
        prepare(k);
        together_.arrive_and_wait(rank);
      });
    }
  }

  /// Plays what a rank does in cycles beside the collective: it reads the same right result again and again.
  void play_work(rank_t rank) {
    work_.write_result(rank);
    together_.arrive_and_wait(rank);
    time_cycles(logs_[rank], [&](std::size_t k) {
      work_.rewrite(rank, k);
      logs_[rank].wrong += work_.wrong(rank, work_.output(rank), 0);
    });
  }

  /// Plays all ranks from one thread of a library that forks and joins. `on_all_ranks(f)` runs f(rank) for each rank in
  /// parallel; `collective(k, prepare)` calls prepare(rank) before it first reads that rank's input, and returns where
  /// all ranks find the result, or a function that gives each rank's place.
  template <class OnAllRanks, class Collective>
  void play_forks(OnAllRanks&& on_all_ranks, Collective&& verb) {
    auto const inspect = [&](std::size_t k, auto const& result) {
      on_all_ranks([&](rank_t rank) { logs_[rank].wrong += work_.wrong(rank, found_by(rank, result), k); });
    };
    if (order_.timing != timing::call) {
      time_cycles(logs_[0], [&](std::size_t k) {
        auto const result = verb(k, [&](rank_t rank) {
          if (rewrites(order_.timing, k)) work_.rewrite(rank, k);
        });
        if (reads(order_.timing, k)) inspect(input_of(order_.timing, k), result);
      });
    } else {
      time_calls(
          logs_[0], [&](std::size_t k) { return verb(k, nothing_to_prepare()); }, inspect,
          [&](std::size_t k) { on_all_ranks([&](rank_t rank) { work_.rewrite(rank, k); }); });
    }
  }

  burst_result result() const {
    burst_result all;
    all.nanoseconds.resize(samples());
    all.by_rank.resize(logs_.size());
    double const per_iteration = nanoseconds_per_tick() / static_cast<double>(group_);
    std::size_t timed_ranks = 0;
    for (std::size_t rank = 0; rank < logs_.size(); ++rank) {
      auto const& [spent, wrong] = logs_[rank];
      all.wrong += wrong;
      if (spent.empty()) continue;
      ++timed_ranks;
      for (std::size_t s = 0; s < samples(); ++s) all.nanoseconds[s] += static_cast<double>(spent[s]) * per_iteration;
      all.by_rank[rank] = median({spent.begin(), spent.end()}) * per_iteration;
    }
    for (double& n : all.nanoseconds) n /= static_cast<double>(timed_ranks);
    return all;
  }

 private:
  static constexpr std::size_t most_samples = 64;

  struct alignas(detail::line_spacing) record {
    std::vector<std::uint64_t> spent;  // ticks, per group of iterations
    std::size_t wrong = 0;
  };

  std::size_t samples() const { return order_.iterations / group_; }

  static std::byte const* found_by(rank_t, std::byte const* result) { return result; }
  static std::byte const* found_by(rank_t rank, std::invocable<rank_t> auto const& where) { return where(rank); }

  template <class Step>
  void time_cycles(record& mine, Step&& step) {
    std::size_t k = 0;
    while (k < order_.warmup) step(k++);
    for (std::size_t s = 0; s < samples(); ++s) {
      auto const begin = ticks();
      for (std::size_t i = 0; i < group_; ++i) step(k++);
      mine.spent.push_back(ticks_since(begin));
    }
  }

  template <class Collective, class Inspect, class Prepare>
  void time_calls(record& mine, Collective&& verb, Inspect&& inspect, Prepare&& prepare) {
    std::size_t k = 0;
    auto const timed_call = [&] {
      prepare(k);
      auto const begin = ticks();
      auto const result = verb(k);
      auto const spent = ticks_since(begin);
      inspect(k++, result);
      return spent;
    };
    while (k < order_.warmup) timed_call();
    for (std::size_t s = 0; s < samples(); ++s) {
      std::uint64_t spent = 0;
      for (std::size_t i = 0; i < group_; ++i) spent += timed_call();
      mine.spent.push_back(spent);
    }
  }

  workload const& work_;
  burst_order order_;
  std::size_t group_;
  std::vector<record> logs_;
  flag_barrier together_;
};

}  // namespace coset::measure
