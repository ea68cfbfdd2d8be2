// SPDX-License-Identifier: Apache-2.0
// Calibration, the rounds themselves, and their sorting by machine state.
#include "command/measure/harness/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "command/measure/harness/statistics.hpp"
#include "numa/binding.hpp"

namespace coset::measure {
namespace {

/// Nanoseconds for which others have a processor, at most; so much is not said of a contestant after one look.
constexpr double longest_interruption = 1e8;

latency_matrix observe(latency_probe& probe) {
  if (probe.takes_turns()) return {};
  wait_until_others_sleep();
  return probe.measure();
}

double farthest_of(latency_matrix const& latency) {
  double farthest = 0;
  for (auto const& row : latency) farthest = std::max(farthest, *std::max_element(row.begin(), row.end()));
  return farthest;
}

/// The bursts played between two measurements of the latencies.
struct played_round {
  latency_matrix before, after;
  std::vector<burst_result> bursts;
};

/// The contestants on one shape, with their calibrated bursts.
class match {
 public:
  match(std::vector<contestant*> const& players, latency_probe& probe, problem const& p, round_options const& options)
      : players_(players), options_(options), work_(p), orders_(players.size()), first_(players.size()) {
    if (options.touches)
      probe.on_each([&](rank_t rank) {
        if (rank < p.ranks) work_.touch(rank);
      });
    found_.shape = p;
    found_.wrong.resize(players.size());
    for (auto const* player : players) found_.declined.push_back(player->declines(p));
    for (std::size_t i = 0; i < players.size(); ++i) {
      if (plays(i)) calibrate(i);
    }
    if (options_.hopeless > 0) decline_hopeless();
  }

  /// One round: a burst of each contestant. The first one after the measurement of latencies is a fifth slower at 8 B
  /// here, so each round begins with another contestant.
  std::vector<burst_result> round() {
    std::vector<burst_result> bursts(players_.size());
    std::size_t const first = rounds_++;
    for (std::size_t k = 0; k < players_.size(); ++k) {
      std::size_t const i = (first + k) % players_.size();
      if (!plays(i)) continue;
      bursts[i] = burst(i);
      if (options_.iterations == 0) adapt(i, bursts[i].nanoseconds);
    }
    return bursts;
  }

  void look_at_pages(latency_probe& probe) {
    std::vector<pages_found> of_rank(probe.ranks());
    probe.on_each([&](rank_t rank) {
      if (rank >= found_.shape.ranks) return;
      auto& [pages, on_own] = of_rank[rank];
      pages = work_.pages_by_node(rank);
      auto const node = numa::current_node();
      if (auto const own = node ? pages.find(*node) : pages.end(); own != pages.end()) on_own = own->second;
    });
    for (auto const& [pages, on_own] : of_rank) {
      for (auto const& [node, count] : pages) found_.pages.by_node[node] += count;
      found_.pages.on_own_node += on_own;
    }
  }

  measurement& found() { return found_; }

 private:
  bool plays(std::size_t i) const { return found_.declined[i].empty(); }

  burst_result burst(std::size_t i) {
    wait_until_others_sleep();
    auto result = players_[i]->burst(work_, orders_[i]);
    result.iterations = orders_[i].iterations;
    found_.wrong[i] += result.wrong;
    return result;
  }

  // Also touches all buffers for the first time, and makes plans and arenas.
  void calibrate(std::size_t i) {
    std::size_t const warmup = options_.warmup > 0 ? options_.warmup : 2;
    orders_[i] = {options_.timing, warmup, options_.iterations > 0 ? options_.iterations : options_.least_iterations};
    double& each = first_[i];
    each = median(burst(i).nanoseconds);
    if (options_.iterations > 0) return set_iterations(i, options_.iterations);
    while (each * static_cast<double>(orders_[i].iterations) < options_.burst_nanoseconds / 10) {
      orders_[i].iterations *= 8;
      each = median(burst(i).nanoseconds);
    }
    set_iterations(i, std::max(options_.least_iterations, static_cast<std::size_t>(options_.burst_nanoseconds / each)));
  }

  // Who was interrupted when calibrated is not hopeless: only the shortest of several further samples says so.
  void decline_hopeless() {
    double best = 0;
    for (std::size_t i = 0; i < players_.size(); ++i)
      if (plays(i) && (best == 0 || first_[i] < best)) best = first_[i];
    double const most = options_.hopeless * best;
    for (std::size_t i = options_.kept; i < players_.size(); ++i) {
      if (!plays(i)) continue;
      for (int again = 0; again < 3 && first_[i] > most && first_[i] < most + longest_interruption; ++again) {
        set_iterations(
            i, std::max(options_.least_iterations, static_cast<std::size_t>(options_.burst_nanoseconds / most)));
        first_[i] = std::min(first_[i], quantile(burst(i).nanoseconds, 0));
      }
      if (first_[i] > most)
        found_.declined[i] = fmt::format("takes {:.1f} times as long as the best", first_[i] / best);
    }
  }

  // Some have two speeds: a std::barrier is a hundred times slower asleep than spinning. Bursts are adapted.
  void adapt(std::size_t i, std::vector<double> const& samples) {
    double const mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
    auto const fitting = static_cast<std::size_t>(options_.burst_nanoseconds / mean);
    set_iterations(i, std::clamp(fitting, options_.least_iterations, 2 * orders_[i].iterations));
  }

  void set_iterations(std::size_t i, std::size_t iterations) {
    orders_[i].iterations = iterations;
    orders_[i].warmup = options_.warmup > 0 ? options_.warmup : std::max<std::size_t>(2, iterations / 10);
  }

  std::vector<contestant*> const& players_;
  round_options const& options_;
  workload work_;
  std::vector<burst_order> orders_;
  std::vector<double> first_;  ///< [player]: nanoseconds of an iteration when bursts were calibrated
  std::size_t rounds_ = 0;
  measurement found_;
};

state_figures& figures_of(measurement& found, nearness const& near) {
  auto const name = near.kind();
  auto const at =
      std::find_if(found.states.begin(), found.states.end(), [&](auto const& s) { return s.state == name; });
  if (at != found.states.end()) return *at;
  found.states.push_back({name, 0, std::vector<figures>(found.declined.size()), 0});
  return found.states.back();
}

void record(state_figures& state, std::vector<burst_result> const& bursts) {
  ++state.rounds;
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    auto const& samples = bursts[i].nanoseconds;
    if (samples.empty()) continue;
    state.of[i].rounds.push_back(median(samples));
    state.of[i].samples.insert(state.of[i].samples.end(), samples.begin(), samples.end());
    state.of[i].by_rank.push_back(bursts[i].by_rank);
    state.of[i].iterations += bursts[i].iterations;
  }
}

}  // namespace

measurement play_rounds(std::vector<contestant*> const& players, latency_probe& probe, problem const& p,
                        round_options const& options, std::function<void(std::size_t)> const& after_round) {
  match match(players, probe, p, options);
  auto& found = match.found();
  std::vector<played_round> all;
  auto const stayed = [&](played_round const& r) {
    return classify(r.before, probe.nearest()) == classify(r.after, probe.nearest());
  };

  auto before = observe(probe);
  std::size_t kept = 0;
  double nearest = probe.nearest();
  for (std::size_t played = 0; kept < options.rounds && played < 2 * options.rounds; ++played) {
    auto bursts = match.round();
    auto after = observe(probe);
    all.push_back({std::move(before), after, std::move(bursts)});
    before = std::move(after);
    after_round(played + 1);
    bool const as_before = probe.nearest() == nearest;
    nearest = probe.nearest();
    kept = as_before ? kept + stayed(all.back()) : static_cast<std::size_t>(std::ranges::count_if(all, stayed));
  }

  if (options.looks_at_pages) match.look_at_pages(probe);

  // Only now is the nearest pair known, which near and far refer to.
  std::vector<std::pair<std::string, double>> farthest;
  for (played_round const& r : all) {
    if (!stayed(r)) {
      ++found.dropped;
      continue;
    }
    auto const near = classify(r.after, probe.nearest());
    record(figures_of(found, near), r.bursts);
    farthest.emplace_back(near.kind(), (farthest_of(r.before) + farthest_of(r.after)) / 2);
  }

  for (auto& state : found.states) {
    std::vector<double> latencies;
    for (auto const& [name, latency] : farthest) {
      if (name == state.state) latencies.push_back(latency);
    }
    state.one_way = median(latencies);
  }
  std::stable_sort(found.states.begin(), found.states.end(),
                   [](auto const& a, auto const& b) { return a.rounds > b.rounds; });
  return std::move(found);
}

std::vector<double> added_to(measurement const& found, std::size_t work) {
  std::vector<double> added(found.declined.size(), 0);
  if (found.states.empty()) return added;
  auto const& all = found.states.front().of;
  for (std::size_t i = 0; i < added.size(); ++i) {
    std::vector<double> beyond;
    for (std::size_t k = 0; k < std::min(all[i].rounds.size(), all[work].by_rank.size()); ++k)
      beyond.push_back(all[i].rounds[k] - std::ranges::max(all[work].by_rank[k]));
    if (!beyond.empty()) added[i] = std::max(0.0, median(std::move(beyond)));
  }
  return added;
}

}  // namespace coset::measure
