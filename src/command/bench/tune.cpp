// SPDX-License-Identifier: Apache-2.0
// `coset tune`: measures this machine, and keeps what prices need and where another plan is clearly better.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "base/environment/variables.hpp"
#include "command/bench/fit_costs.hpp"
#include "command/bench/tune_report.hpp"
#include "command/bytes.hpp"
#include "command/interruption.hpp"
#include "command/machine_options.hpp"
#include "command/measure/fits/clusters.hpp"
#include "command/measure/fits/hidden_levels.hpp"
#include "command/measure/harness/rounds.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measuring.hpp"
#include "command/output.hpp"
#include "coset/topology.hpp"
#include "numa/quota.hpp"
#include "planning/calibration/profile.hpp"
#include "planning/choice/choose.hpp"
#include "planning/program/plan_text.hpp"

namespace coset::cli {
namespace {

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;
constexpr std::array<std::size_t, 10> sizes{64,           1 * kibibyte, 8 * kibibyte,  64 * kibibyte, 256 * kibibyte,
                                            1 * mebibyte, 4 * mebibyte, 16 * mebibyte, 64 * mebibyte, 256 * mebibyte};
/// Beyond this size only memory counts: only an allreduce is measured, a few times, with a few plans.
constexpr std::size_t most_measured_often = 16 * mebibyte;
/// Arrays of all ranks may take one part in so many of free memory.
constexpr std::uint64_t least_share_of_memory = 4;

constexpr std::chrono::seconds time_limit{18}, time_for_second_looks{2};

/// Within one process a difference by the first factor is not by chance. Another process may have its memory elsewhere, which makes as
/// much of a difference to plans that reach arrays: what is kept for it has to win by the second.
constexpr double clearly = 1.1, clearly_in_any_process = 1.3;

/// Latencies are the medians of so many matrices, so that one interrupted matrix makes no clusters.
constexpr int matrices = 5;

/// The plans measured for each verb and size: the default (""), then those that may beat it wherever the ranks are.
std::vector<std::string> candidates(verb what, rank_t ranks, std::size_t bytes) {
  std::vector<std::string> plans{""};
  if (ranks == 1) return plans;
  if (bytes > most_measured_often) return {"", "direct/output", "direct/zero_copy", "direct/zero_copy+stream"};
  bool const small = bytes <= 8 * kibibyte;
  bool const is_shared = detail::shares_result(what);
  bool const star = small && (is_shared || detail::is_rooted(what));
  if (star) plans.push_back(fmt::format("binomial(radix={})/staged_in", std::max<rank_t>(ranks, 2)));
  if (small && !is_shared) plans.emplace_back("direct(saved_steps=1)/staged_pull");
  if (is_shared) {
    plans.insert(plans.end(), {"direct/staged_in", "direct/zero_copy"});
    return plans;
  }
  plans.insert(plans.end(), {"direct/staged", "direct/zero_copy"});
  if (detail::folds_for_all(what) && !small) plans.emplace_back("direct/output");
  if (detail::folds_for_all(what) && bytes >= 4 * mebibyte) plans.emplace_back("direct/staged/256K");
  if (bytes >= 4 * mebibyte) plans.emplace_back("direct/zero_copy+stream");
  return plans;
}

/// Plans that may beat these along the measured clusters: a value crosses each level once and is then passed on inside.
std::vector<std::string> candidates_along(std::vector<calibration::clustering> const& levels, verb what, rank_t ranks,
                                          std::size_t bytes) {
  if (levels.empty() || !detail::folds_for_all(what) || bytes < 256 * kibibyte) return {};
  std::string const folds = choice::folds_along(levels, ranks);
  return {folds + "/zero_copy_push", folds + "/output_push"};
}

/// What is derived of others, or is as another one, is tuned with that.
std::vector<verb> tuned_verbs() {
  std::vector<verb> all;
  for (verb const what : all_verbs()) {
    detail::verb_row const& row = detail::row_of(what);
    bool const is_as_another = detail::is_derived(what) || detail::is_barrier(what) ||
                               row.in == detail::results::view || detail::is_exclusive(what);
    if (!is_as_another) all.push_back(what);
  }
  return all;
}

double time_of(measure::figures const& of) {
  return of.rounds.empty() ? std::numeric_limits<double>::infinity() : measure::median(of.rounds);
}

/// [plan]: its worst ratio to the best plan, over the states of the machine.
std::vector<double> regrets(measure::measurement const& found) {
  std::vector<double> worst(found.declined.size(), 0);
  for (auto const& state : found.states) {
    std::vector<double> taken;
    for (auto const& of : state.of) taken.push_back(time_of(of));
    double const best = *std::ranges::min_element(taken);
    for (std::size_t i = 0; i < taken.size(); ++i) worst[i] = std::max(worst[i], taken[i] / best);
  }
  return worst;
}

/// The plan of least regret among the first `plans`: a machine that moves must not be tuned for one of its states.
std::size_t least_regret(std::vector<double> const& worst, std::size_t plans) {
  auto const least = std::min_element(worst.begin(), worst.begin() + static_cast<std::ptrdiff_t>(plans));
  // The default stays unless another plan is clearly better.
  return worst[0] <= *least * clearly_in_any_process ? 0 : static_cast<std::size_t>(least - worst.begin());
}

std::string times_of(measure::measurement const& found, std::size_t along, std::size_t flat) {
  std::string all;
  for (auto const& state : found.states) {
    all += fmt::format("{}{}: {:.1f} against {:.1f} µs", all.empty() ? "" : ", ", state.state,
                       time_of(state.of[along]) / 1e3, time_of(state.of[flat]) / 1e3);
  }
  return all;
}

class tuner {
 public:
  explicit tuner(rank_t ranks) : machine_(machine_to_measure()) {
    places_ = machine_.place(ranks > 0 ? ranks : machine_.cores(), placement::compact);
    look_for_clusters();
  }

  calibration::profile run() {
    made_.fingerprint = calibration::fingerprint_of(calibration::machine_tuned_for());
    made_.date = now();
    made_.processors = processors_;
    try {
      measure_model();
      fit_costs();
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        for (verb const what : tuned_verbs())
          if (is_measured(what, sizes[i])) tune(what, i);
      }
      look_again();
    } catch (interrupted const&) {  // the costs are kept; winners are only with a second look
      winners_.clear();
    }
    forget_fitted_default();
    // Where there was no time for most plans, what they add tells how busy the machine is.
    if (2 * measured_ < cells()) made_.costs = {};
    for (verb const what : tuned_verbs()) {
      add_rules(what, winners_[what], made_.rules);
      // Levels that the machine itself reports need no second look when a team starts.
      bool const hidden = !made_.hidden.levels.empty();
      add_rules(what, along_[what], hidden ? made_.hidden.rules : made_.rules, !hidden);
    }
    progress("");
    return std::move(made_);
  }

  std::string machine() const { return told_and_measured_; }
  std::vector<contest> const& contests() const { return contests_; }

  bool measured_something() const { return measured_ > 0; }

  /// Cells that there was no time for keep the defaults.
  std::size_t left_out() const { return cells() - measured_; }
  std::size_t all() const { return cells(); }

 private:
  rank_t ranks() const { return static_cast<rank_t>(processors_.size()); }

  static std::string now() {
    std::time_t const time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    gmtime_r(&time, &utc);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
  }

  /// A bar on a terminal.
  void progress(std::string const& what) {
    if (isatty(STDERR_FILENO) != 1) return;
    constexpr std::size_t width = 40;
    std::size_t const full = measured_ * width / cells();
    fmt::print(stderr, "\r\033[K");
    if (!what.empty()) fmt::print(stderr, "[{}{}] {}", std::string(full, '#'), std::string(width - full, '.'), what);
    std::fflush(stderr);
  }

  measure::latency_matrix latency() {
    std::vector<measure::latency_matrix> found;
    for (int i = 0; i < matrices; ++i) found.push_back(probe_->measure());
    auto made = found[0];
    for (rank_t a = 0; a < ranks(); ++a) {
      for (rank_t b = 0; b < ranks(); ++b) {
        std::vector<double> taken;
        for (auto const& matrix : found) taken.push_back(matrix[a][b]);
        made[a][b] = measure::median(std::move(taken));
      }
    }
    return made;
  }

  void settle() {
    processors_.clear();
    for (auto const& p : places_) processors_.push_back(p.os_index);
    probe_.emplace(processors_);
    own_work_ = measure::make_own_work(processors_);
  }

  /// Ranks are in the order of the clusters from here on.
  void look_for_clusters() {
    settle();
    auto const in_machine_order = latency();
    made_.latency = in_machine_order;
    levels_ = calibration::clusters_of(in_machine_order);
    told_and_measured_ = calibration::told_and_measured(places_, levels_);
    if (levels_.empty()) return;
    auto const order = calibration::consecutive(levels_);
    auto const places = places_;
    for (rank_t r = 0; r < ranks(); ++r) {
      places_[r] = places[order[r]];
      for (rank_t q = 0; q < ranks(); ++q) made_.latency[r][q] = in_machine_order[order[r]][order[q]];
    }
    settle();
    levels_ = calibration::renumbered(levels_, order);
    auto const told = calibration::told_by(places_);
    std::ranges::copy_if(levels_, std::back_inserter(made_.hidden.levels),
                         [&](auto const& level) { return std::ranges::find(told, level) == told.end(); });
  }

  measure::contestant* player(std::string const& plan) {
    auto& made = players_[plan];
    if (!made) made = measure::make_coset(processors_, plan);
    return made.get();
  }

  measure::measurement measure(verb what, std::size_t bytes, std::vector<std::string> const& plans) {
    return play(players_of(plans), shape_of(what, bytes));
  }

  /// What each adds to the work of a cycle.
  std::vector<double> added_by(verb what, std::size_t bytes, std::vector<std::string> const& plans) {
    auto players = players_of(plans);
    players.push_back(own_work_.get());
    return measure::added_to(play(players, shape_of(what, bytes)), plans.size());
  }

  std::vector<measure::contestant*> players_of(std::vector<std::string> const& plans) {
    std::vector<measure::contestant*> players;
    for (auto const& plan : plans) players.push_back(player(plan));
    return players;
  }

  measure::problem shape_of(verb what, std::size_t bytes) const {
    measure::problem shape{.ranks = ranks(), .what = what};
    shape.count = bytes / shape.element_bytes() / ranks() * ranks();
    return shape;
  }

  measure::measurement play(std::vector<measure::contestant*> const& players, measure::problem const& shape) {
    bool const few = shape.bytes() > most_measured_often;
    measure::round_options const often{.rounds = 5, .burst_nanoseconds = 1e6},
        seldom{.rounds = 3, .iterations = 2, .warmup = 1};
    return measure::play_rounds(players, *probe_, shape, few ? seldom : often,
                                [](std::size_t) { stop_if_interrupted(); });
  }

  bool is_measured(verb what, std::size_t bytes) const {
    if (bytes <= most_measured_often) return true;
    return detail::folds_for_all(what) && (2 * std::uint64_t{ranks()} + 1) * bytes <= memory_ / least_share_of_memory;
  }
  std::size_t cells() const {
    std::size_t all = 0;
    for (verb const what : tuned_verbs())
      for (std::size_t const bytes : sizes) all += is_measured(what, bytes) ? 1 : 0;
    return all;
  }

  void tune(verb what, std::size_t i) {
    if (std::chrono::steady_clock::now() > deadline_) return;
    progress(fmt::format("{} of {}", name_of(what), bytes_for_people(sizes[i])));
    auto plans = candidates(what, ranks(), sizes[i]);
    std::size_t const flat_ones = plans.size();
    for (auto& plan : candidates_along(levels_, what, ranks(), sizes[i])) plans.push_back(std::move(plan));
    auto const found = measure(what, sizes[i], plans);
    auto const worst = regrets(found);
    std::size_t const flat = least_regret(worst, flat_ones);
    winners_[what][i] = plans[flat];
    if (plans.size() > flat_ones) compare(what, i, plans, found, worst, flat, flat_ones);
    ++measured_;
  }

  /// A virtual machine moves its cores within seconds, and what wins in one look loses where they are by then: reductions of 4 MiB
  /// took twice as long by such a rule. So who beats the default has to do it once more, after all others.
  void look_again() {
    for (verb const what : tuned_verbs())
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::string& winner = winners_[what][i];
        if (winner.empty()) continue;
        if (std::chrono::steady_clock::now() > deadline_ + time_for_second_looks) {
          winner.clear();
          continue;
        }
        progress(fmt::format("{} of {} again", name_of(what), bytes_for_people(sizes[i])));
        if (least_regret(regrets(measure(what, sizes[i], {"", winner})), 2) == 0) winner.clear();
      }
  }

  void compare(verb what, std::size_t i, std::vector<std::string> const& plans, measure::measurement const& found,
               std::vector<double> const& worst, std::size_t flat, std::size_t flat_ones) {
    auto const best = std::min_element(worst.begin() + static_cast<std::ptrdiff_t>(flat_ones), worst.end());
    auto const along = static_cast<std::size_t>(best - worst.begin());
    bool const chosen = *best * clearly < worst[flat];
    if (chosen) along_[what][i] = plans[along];
    contests_.push_back({what, sizes[i], plans[along], plans[flat], times_of(found, along, flat), chosen});
  }

  /// The best plan at a size serves half-way to the next, on a logarithmic scale.
  void add_rules(verb what, std::array<std::string, sizes.size()> const& best, std::vector<calibration::rule>& to_these,
                 bool first = false) {
    std::size_t from = 0;
    auto at = first ? to_these.begin() : to_these.end();
    for (std::size_t i = 0; i < sizes.size();) {
      std::size_t last = i;
      while (last + 1 < sizes.size() && best[last + 1] == best[i]) ++last;
      std::size_t const to = last + 1 < sizes.size() ? middle(sizes[last], sizes[last + 1]) : SIZE_MAX;
      if (!best[i].empty()) at = to_these.insert(at, {what, ranks(), from, to, plan_named(best[i]), false}) + 1;
      from = to;
      i = last + 1;
    }
  }

  static std::size_t middle(std::size_t a, std::size_t b) {
    return static_cast<std::size_t>(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
  }

  /// As the library's default storages show. Of more ranks than that rounds would take their time from the plans.
  void fit_costs() {
    constexpr rank_t most_ranks = 16;
    constexpr std::chrono::seconds most_time{6};
    if (ranks() < 2 || ranks() > most_ranks) return;
    progress("costs");
    auto const until = std::chrono::steady_clock::now() + most_time;
    choice::question like{.ranks = ranks(), .memory = calibration::told_of(machine_)};
    choice::put_on_levels(like, places_);
    made_.costs = cli::fit_costs(like, [&](verb what, std::size_t bytes, std::vector<std::string> const& plans) {
      std::vector<double> seconds(plans.size());
      if (std::chrono::steady_clock::now() > until) return seconds;
      auto const added = added_by(what, bytes, plans);
      for (std::size_t i = 0; i < plans.size(); ++i) seconds[i] = added[i] * 1e-9;
      return seconds;
    });
    compare_with_fitted_default();
  }

  /// The default that other plans have to beat is the one that teams will have with these costs.
  void compare_with_fitted_default() {
    calibration::profile only_costs;
    only_costs.fingerprint = made_.fingerprint;
    only_costs.date = made_.date;
    only_costs.costs = made_.costs;
    fitted_.emplace(only_costs.text());
    setenv("COSET_TUNING", fitted_->name().c_str(), 1);
    players_.clear();
  }

  void forget_fitted_default() {
    if (!fitted_) return;
    unsetenv("COSET_TUNING");
    fitted_.reset();
  }

  void measure_model() {
    for (auto const& row : made_.latency) made_.alpha = std::max(made_.alpha, *std::ranges::max_element(row));
    auto const round = measure::make_flag_round(processors_);
    std::vector<measure::contestant*> const alone{round.get()};
    measure::problem const nothing{.ranks = ranks()};
    auto const flags = play(alone, nothing);
    if (!flags.states.empty() && ranks() > 1)
      made_.lambda = measure::median(flags.states[0].of[0].rounds) / (ranks() - 1);
    constexpr std::size_t large = mebibyte;
    auto const bulk = measure(verb::allreduce, large, {""});
    if (!bulk.states.empty()) made_.beta = measure::median(bulk.states[0].of[0].rounds) / large;
  }

  topology const machine_;
  std::vector<processor> places_;
  std::vector<unsigned> processors_;
  std::optional<measure::latency_probe> probe_;
  std::unique_ptr<measure::contestant> own_work_;
  std::map<std::string, std::unique_ptr<measure::contestant>> players_;
  calibration::profile made_;
  std::optional<temporary_file> fitted_;         ///< a profile of costs alone, while plans are compared
  std::vector<calibration::clustering> levels_;  ///< measured, of ranks
  std::string told_and_measured_;
  std::map<verb, std::array<std::string, sizes.size()>> winners_;  ///< the best wherever ranks are; empty: the default
  std::map<verb, std::array<std::string, sizes.size()>> along_;    ///< the best along clusters; empty: not better
  std::vector<contest> contests_;
  std::size_t measured_ = 0;
  std::uint64_t const memory_ = numa::free_memory();
  std::chrono::steady_clock::time_point const deadline_ = std::chrono::steady_clock::now() + time_limit;
};

/// The cache directory may not have the folder yet.
void make_folder_of(std::filesystem::path const& file) {
  std::error_code ignored;  // the file cannot be written either then
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
}

/// Cells that are left out keep the defaults.
void print_left_out(std::size_t left_out, std::size_t all) {
  if (left_out == 0) return;
  std::cout << fmt::format("{} of {} cells were left out: {}\n", left_out, all,
                           interrupted_status() != 0 ? "interrupted" : "this machine is busy");
}

}  // namespace

void measure_tune(tune_arguments const& a) {
  if (environment::value("COSET_TUNING") == "off") unsetenv("COSET_TUNING");  // "off" would prevent the profile
  machine_to_measure();
  auto const file = a.output.empty()
                        ? calibration::profile_file(calibration::fingerprint_of(calibration::machine_tuned_for()))
                        : a.output;
  if (file.empty()) throw argument_error("no place for a profile: set HOME, or name a file with -o");
  make_folder_of(file);
  output_file const kept(file);
  // Candidates are compared with the defaults of a user without a profile.
  unsetenv("COSET_TUNING");
  setenv("XDG_CACHE_HOME", "/proc/self/no-profiles", 1);
  setenv("COSET_ADAPT", "off", 1);  // a default that learns is another plan from call to call
  remember_interrupts();
  tuner all(a.ranks);
  auto const found = all.run();
  bool const stopped = interrupted_status() != 0;
  if (all.measured_something() || !stopped) {
    kept.write(found.text());
    std::cout << all.machine() << '\n';
    std::cout << tune_report(all.contests(), found, file);
  }
  print_left_out(all.left_out(), all.all());
  if (stopped) throw CLI::RuntimeError(interrupted_status());
}

}  // namespace coset::cli
