// SPDX-License-Identifier: Apache-2.0
// `coset tune`: measures this machine's candidates and keeps what is best for each verb and size.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "bench/rounds.hpp"
#include "bench/statistics.hpp"
#include "cli/bytes.hpp"
#include "cli/commands.hpp"
#include "coset/topology.hpp"
#include "tuning/plan_text.hpp"
#include "tuning/profile.hpp"

namespace coset::cli {
namespace {

constexpr std::array<std::size_t, 8> sizes{64,         1024,        8 * 1024,        64 * 1024,
                                           256 * 1024, 1024 * 1024, 4 * 1024 * 1024, 16 * 1024 * 1024};

constexpr std::chrono::seconds time_limit{17};

/// The size of clusters of consecutive ranks that are all of one size and more than one; else 0.
rank_t even_clusters(bench::nearness const& near) {
  rank_t next = 0;
  std::size_t const size = near.clusters.front().size();
  for (auto const& cluster : near.clusters) {
    if (cluster.size() != size) return 0;
    for (rank_t const r : cluster) {
      if (r != next++) return 0;
    }
  }
  return near.clusters.size() > 1 ? static_cast<rank_t>(size) : 0;
}

/// Measured for each: the default (""), then what may beat it.
std::vector<std::string> candidates(verb what, rank_t ranks, std::size_t bytes, bench::nearness const& near) {
  std::vector<std::string> plans{""};
  if (ranks == 1) return plans;
  bool const small = bytes <= 8 * 1024;
  bool const star = small && (what == verb::reduce_shared || what == verb::reduce || what == verb::broadcast);
  if (star) plans.push_back(fmt::format("binomial(radix={})/staged_in", std::max<rank_t>(ranks, 2)));
  if (small && what != verb::reduce_shared) plans.emplace_back("direct(saved_steps=1)/staged_pull");
  if (what == verb::reduce_shared) {
    plans.insert(plans.end(), {"direct/staged_in", "direct/zero_copy"});
    return plans;
  }
  plans.insert(plans.end(), {"direct/staged", "direct/zero_copy"});
  if (what == verb::allreduce && !small) plans.emplace_back("direct/output");
  if (what == verb::allreduce && bytes >= 4 * 1024 * 1024) plans.emplace_back("direct/staged/256K");
  if (bytes >= 4 * 1024 * 1024) plans.emplace_back("direct/zero_copy+stream");
  // Two levels pay where they are those that were measured.
  if (rank_t const each = even_clusters(near); what == verb::allreduce && bytes >= 256 * 1024 && each > 1)
    plans.push_back(fmt::format("product(dims={}x{})/zero_copy_push", each, ranks / each));
  return plans;
}

constexpr std::array verbs{verb::allreduce, verb::reduce_shared, verb::reduce, verb::reduce_scatter,
                           verb::allgather, verb::broadcast,     verb::scan};

/// The plan whose worst ratio to the best, over the states that the machine was in, is least: machines that move must
/// not be tuned for a moment.
std::size_t least_regret(bench::measurement const& found) {
  std::vector<double> worst(found.declined.size(), 0);
  for (auto const& state : found.states) {
    std::vector<double> medians;
    for (auto const& figures : state.of)
      medians.push_back(figures.rounds.empty() ? std::numeric_limits<double>::infinity()
                                               : bench::median(figures.rounds));
    double const best = *std::ranges::min_element(medians);
    for (std::size_t i = 0; i < medians.size(); ++i) worst[i] = std::max(worst[i], medians[i] / best);
  }
  auto const least = std::ranges::min_element(worst);
  // The default stays unless something is clearly better.
  return worst[0] <= *least * 1.1 ? 0 : static_cast<std::size_t>(least - worst.begin());
}

class tuner {
 public:
  explicit tuner(rank_t ranks) : machine_(topology::machine()) {
    for (auto const& p : machine_.place(ranks > 0 ? ranks : machine_.cores(), placement::compact))
      processors_.push_back(p.os_index);
    probe_.emplace(processors_);
  }

  tuning::profile run() {
    made_.fingerprint = tuning::fingerprint_of(tuning::machine_tuned_for());
    made_.date = now();
    made_.processors = processors_;
    measure_model();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (verb const what : verbs) tune(what, i);
    }
    for (verb const what : verbs) add_rules(what);
    progress("");
    return std::move(made_);
  }

  /// What there was no time for keeps the defaults.
  std::size_t left_out() const { return verbs.size() * sizes.size() - measured_; }

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
    constexpr std::size_t width = 40, all = verbs.size() * sizes.size();
    std::size_t const full = measured_ * width / all;
    fmt::print(stderr, "\r\033[K");
    if (!what.empty()) fmt::print(stderr, "[{:#<{}}{:.<{}}] {}", "", full, "", width - full, what);
    std::fflush(stderr);
  }

  bench::contestant* player(std::string const& plan) {
    auto& made = players_[plan];
    if (!made) made = bench::make_coset(processors_, plan);
    return made.get();
  }

  bench::measurement measure(verb what, std::size_t bytes, std::vector<std::string> const& plans) {
    std::vector<bench::contestant*> players;
    for (auto const& plan : plans) players.push_back(player(plan));
    bench::problem shape{.ranks = ranks(), .what = what};
    shape.count = bytes / shape.element_bytes() / ranks() * ranks();
    return bench::play_rounds(players, *probe_, shape, {.rounds = 5, .burst_nanoseconds = 1e6}, [](std::size_t) {});
  }

  void tune(verb what, std::size_t i) {
    if (std::chrono::steady_clock::now() > deadline_) return;
    progress(fmt::format("{} of {}", name_of(what), bytes_for_people(sizes[i])));
    auto const plans = candidates(what, ranks(), sizes[i], bench::classify(made_.latency));
    winners_[what][i] = plans[least_regret(measure(what, sizes[i], plans))];
    ++measured_;
  }

  /// What is best at a size serves half-way to the next, on the scale of powers.
  void add_rules(verb what) {
    auto const& best = winners_[what];
    std::size_t from = 0;
    for (std::size_t i = 0; i < sizes.size();) {
      std::size_t last = i;
      while (last + 1 < sizes.size() && best[last + 1] == best[i]) ++last;
      std::size_t const to = last + 1 < sizes.size() ? middle(sizes[last], sizes[last + 1]) : SIZE_MAX;
      if (!best[i].empty()) made_.rules.push_back({what, ranks(), from, to, plan_named(best[i]), false});
      from = to;
      i = last + 1;
    }
  }

  static std::size_t middle(std::size_t a, std::size_t b) {
    return static_cast<std::size_t>(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
  }

  void measure_model() {
    made_.latency = probe_->measure();
    for (auto const& row : made_.latency) made_.alpha = std::max(made_.alpha, *std::ranges::max_element(row));
    auto const floor = bench::make_flag_floor(processors_);
    std::vector<bench::contestant*> const alone{floor.get()};
    bench::problem const nothing{.ranks = ranks()};
    auto const flags =
        bench::play_rounds(alone, *probe_, nothing, {.rounds = 5, .burst_nanoseconds = 1e6}, [](std::size_t) {});
    if (!flags.states.empty() && ranks() > 1)
      made_.lambda = bench::median(flags.states[0].of[0].rounds) / (ranks() - 1);
    constexpr std::size_t large = 1024 * 1024;
    auto const bulk = measure(verb::allreduce, large, {""});
    if (!bulk.states.empty()) made_.beta = bench::median(bulk.states[0].of[0].rounds) / large;
  }

  topology const machine_;
  std::vector<unsigned> processors_;
  std::optional<bench::latency_probe> probe_;
  std::map<std::string, std::unique_ptr<bench::contestant>> players_;
  tuning::profile made_;
  std::map<verb, std::array<std::string, sizes.size()>> winners_;  ///< empty: the default
  std::size_t measured_ = 0;
  std::chrono::steady_clock::time_point const deadline_ = std::chrono::steady_clock::now() + time_limit;
};

void print(tuning::profile const& found, std::string const& file) {
  fmt::print("machine {}, {} ranks: alpha {:.0f} ns, lambda {:.0f} ns per peer, beta {:.3f} ns per byte\n",
             found.fingerprint, found.processors.size(), found.alpha, found.lambda, found.beta);
  if (found.rules.empty()) fmt::print("no plan was clearly better than the defaults\n");
  for (auto const& r : found.rules) {
    fmt::print("{:<15} {:>10} to {:<10} {}\n", name_of(r.what), bytes_for_people(r.from),
               r.to == SIZE_MAX ? "any" : bytes_for_people(r.to), tuning::text_of(r.how));
  }
  fmt::print("kept in {}\n", file);
}

}  // namespace

void add_tune(CLI::App& app) {
  struct arguments {
    rank_t ranks = 0;
    std::string output;
  };
  auto const a = std::make_shared<arguments>();
  auto& tune = *app.add_subcommand("tune", "Measure this machine and keep what is best for each verb and size");
  tune.add_option("-t,--ranks", a->ranks, "Threads; default: one per core")->check(CLI::PositiveNumber);
  tune.add_option("-o,--output", a->output, "Write the profile to this file instead of the cache directory");
  tune.footer(
      "Under 20 seconds. Teams of as many ranks take the profile from then on; COSET_TUNING=FILE names another,\n"
      "COSET_TUNING=off none.");
  tune.callback([a] {
    if (char const* const set = std::getenv("COSET_TUNING"); set != nullptr && std::string_view(set) == "off")
      unsetenv("COSET_TUNING");
    auto const file =
        a->output.empty() ? tuning::profile_file(tuning::fingerprint_of(tuning::machine_tuned_for())) : a->output;
    if (file.empty()) throw argument_error("no place for a profile: set HOME, or name a file with -o");
    tuning::profile::require_writable(file);
    setenv("COSET_TUNING", "off", 1);  // the defaults are what the candidates are compared with
    tuner all(a->ranks);
    auto const found = all.run();
    found.write(file);
    print(found, file);
    if (all.left_out() > 0)
      fmt::print("{} of {} cells were left out: this machine is busy\n", all.left_out(), verbs.size() * sizes.size());
  });
}

}  // namespace coset::cli
