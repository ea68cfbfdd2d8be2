// SPDX-License-Identifier: Apache-2.0
// Loops that add into arrays, cell by cell: coset::omp::scatter_add beside what experts write, all in one process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>

#include "bench/scatter/playing.hpp"
#include "command/measure/harness/rounds.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/machine/clock.hpp"
#include "command/measure/machine/large_stacks.hpp"
#include "command/measure/machine/processors.hpp"
#include "coset/topology.hpp"

namespace coset::measure {
namespace {

using nlohmann::ordered_json;

struct arguments {
  std::vector<std::size_t> threads;
  std::vector<std::string> named, who;
  std::string cells = "document", json_file, once;
  bool grid = false, huge = false, facts = false, first_use = false, shortest = false;
  round_options options;
};

/// One way of one cell.
template <class T>
class player final : public contestant {
 public:
  player(scatter_work<T>& work, scatter_way way, scatter_threads& threads, bool by_shortest)
      : contestant(way.from == origin::rival ? "rival" : "coset", way.name),
        work_(work),
        way_(std::move(way)),
        threads_(threads),
        by_shortest_(by_shortest) {}

  origin from() const { return way_.from; }

  burst_result burst(workload const&, burst_order const& order) override {
    burst_result result;
    threads_.run(way_, [&] { result.nanoseconds = steps(order); });
    if (by_shortest_) result.nanoseconds = {std::ranges::min(result.nanoseconds)};
    result.wrong = work_.wrong_after(order.warmup + order.iterations);
    return result;
  }

 private:
  std::vector<double> steps(burst_order const& order) const {
    for (std::size_t k = 0; k < order.warmup; ++k) way_.step();
    std::size_t const groups = std::min<std::size_t>(order.iterations, 64);
    std::vector<double> samples;
    for (std::size_t group = 0; group < groups; ++group) {
      std::size_t const begin = share(order.iterations, group, groups),
                        end = share(order.iterations, group + 1, groups);
      auto const start = ticks();
      for (std::size_t k = begin; k < end; ++k) way_.step();
      samples.push_back(static_cast<double>(ticks_since(start)) * nanoseconds_per_tick() /
                        static_cast<double>(end - begin));
    }
    return samples;
  }

  scatter_work<T>& work_;
  scatter_way way_;
  scatter_threads& threads_;
  bool const by_shortest_;
};

/// The time of coset's choice as a multiple of the shortest, of all that `counts` admits.
template <class Counts>
ordered_json regret(state_figures const& state, std::vector<contestant*> const& players, std::string const& name,
                    Counts const& counts) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < players.size(); ++i)
    if (!state.of[i].rounds.empty() && counts(i) && median(state.of[i].rounds) < median(state.of[best].rounds))
      best = i;
  comparison const c = compare(state.of[0].rounds, state.of[best].rounds);
  fmt::print("  {:<24}{:>9.2f}  [{:.2f}, {:.2f}] {}\n", name, c.ratio, c.low, c.high, players[best]->name());
  return {{"median", c.ratio}, {"low", c.low}, {"high", c.high}, {"best", players[best]->name()}};
}

ordered_json rows_of(measurement const& found, state_figures const& state, std::vector<contestant*> const& players) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < players.size(); ++i) {
    auto const& who = *players[i];
    if (state.of[i].rounds.empty()) {
      fmt::print("  {:<24}{}\n", who.name(), found.declined[i]);
      rows.push_back({{"who", who.name()}, {"family", who.family()}, {"declined", found.declined[i]}});
      continue;
    }
    double const time = median(state.of[i].rounds);
    advantage const faster = advantage_of(compare(state.of[0].rounds, state.of[i].rounds));
    fmt::print("  {:<24}{:>14.2f}{:>7}{:>9.2f}x [{:.2f}, {:.2f}]\n", who.name(), time / 1e3, found.wrong[i],
               faster.median, faster.low, faster.high);
    rows.push_back({{"who", who.name()},
                    {"family", who.family()},
                    {"median_ns", time},
                    {"wrong", found.wrong[i]},
                    {"rounds_ns", state.of[i].rounds},
                    {"coset_faster", {{"median", faster.median}, {"low", faster.low}, {"high", faster.high}}}});
  }
  return rows;
}

/// coset's choice always plays, as others are compared with it.
bool is_wanted(scatter_way const& way, std::vector<std::string> const& who) {
  return who.empty() || way.from == origin::chosen ||
         std::ranges::any_of(who, [&](std::string const& begin) { return way.name.starts_with(begin); });
}

/// All ways of one cell; false if somebody's target was wrong.
template <class T>
bool measure(scatter_work<T>& work, scatter_threads& threads, latency_probe& probe, arguments const& wanted,
             ordered_json& results) {
  std::vector<std::unique_ptr<player<T>>> all;
  std::vector<contestant*> players;
  for (scatter_way& way : all_ways(work, threads.count())) {
    if (!is_wanted(way, wanted.who)) continue;
    all.push_back(std::make_unique<player<T>>(work, std::move(way), threads, wanted.shortest));
    players.push_back(all.back().get());
  }
  std::string const plan = facts_and_plan(work, threads.count());
  problem const nothing{.count = 1, .ranks = 1};
  auto const found = play_rounds(players, probe, nothing, wanted.options, [](std::size_t) {});
  bool const right =
      std::ranges::all_of(found.wrong, [](std::size_t wrong) { return wrong == 0; }) && work.wrong_anywhere() == 0;
  if (found.states.empty()) {
    fmt::print("{} threads, {}: the machine changed in every round; results {}\n", threads.count(), work.shape().name(),
               right ? "right" : "wrong");
    return right;
  }
  auto const& state = found.states.front();
  fmt::print("{} threads, {}, {} updates, {} rounds {}; {}\n", threads.count(), work.shape().name(), work.updates(),
             state.rounds, state.state, plan);
  ordered_json const rows = rows_of(found, state, players);
  if (state.of[0].rounds.empty()) return right;
  ordered_json const of_all = regret(state, players, "chosen ÷ best of all", [](std::size_t) { return true; });
  ordered_json const of_own =
      regret(state, players, "chosen ÷ best own way", [&](std::size_t i) { return all[i]->from() == origin::own; });
  std::fflush(stdout);
  results.push_back({{"threads", threads.count()},
                     {"cell", work.shape().name()},
                     {"updates", work.updates()},
                     {"plan", plan},
                     {"state", state.state},
                     {"rounds", state.rounds},
                     {"regret", of_all},
                     {"own_regret", of_own},
                     {"right", right},
                     {"rows", rows}});
  return right;
}

std::vector<cell> cells_of(arguments const& wanted) {
  std::vector<cell> all;
  for (std::string const& name : wanted.named) all.push_back(cell_from(name));
  if (!all.empty()) return all;
  if (wanted.grid || wanted.huge) return grid_cells(wanted.huge);
  return wanted.cells == "smoke" ? smoke_cells() : document_cells();
}

bool print_facts(std::vector<cell> const& cells, std::size_t threads) {
  for (cell const& what : cells)
    with_work_of(what, threads, [&](auto& work) {
      fmt::print("{} threads, {}, {} updates: {}\n", threads, what.name(), what.updates,
                 facts_and_plan(work, static_cast<int>(threads)));
      std::fflush(stdout);
    });
  return true;
}

bool play_cells(std::vector<cell> const& cells, topology const& machine, std::size_t threads, arguments const& wanted,
                ordered_json& results) {
  scatter_threads all(processors_for(machine, threads));
  latency_probe probe(processors_for(machine, std::min<std::size_t>(threads, machine.cores())));
  bool right = true;
  for (cell const& what : cells) {
    right &= with_work_of(what, threads, [&](auto& work) { return measure(work, all, probe, wanted, results); });
    // Whoever ends a long run early has the cells so far.
    if (!wanted.json_file.empty()) std::ofstream(wanted.json_file) << results.dump(1) << '\n';
  }
  return right;
}

int run(arguments const& wanted) {
  topology const machine = topology::machine();
  std::vector<cell> const cells = cells_of(wanted);
  ordered_json results = ordered_json::array();
  bool right = true;
  for (std::size_t const threads :
       wanted.threads.empty() ? std::vector<std::size_t>{machine.cores()} : wanted.threads) {
    if (!wanted.once.empty()) return play_once(cells.front(), wanted.once, processors_for(machine, threads)) ? 0 : 1;
    if (wanted.facts) {
      right &= print_facts(cells, threads);
    } else if (wanted.first_use) {
      right &= play_first_uses(cells, threads, wanted.options.rounds, results);
    } else {
      fmt::print("# {:<24}{:>14}{:>7}   coset is faster\n", "who", "median, µs", "wrong");
      right &= play_cells(cells, machine, threads, wanted, results);
    }
  }
  if (!wanted.json_file.empty()) std::ofstream(wanted.json_file) << results.dump(1) << '\n';
  return right ? 0 : 1;
}

void add_options(CLI::App& app, arguments& wanted) {
  app.add_option("-t,--threads", wanted.threads, "numbers of threads; one per core unless given")->delimiter(',');
  app.add_option("--cell", wanted.named, "length:updates per element:keys:elements, like 64Mi:0.01:window:f64");
  app.add_option("--cells", wanted.cells, "a set of cells")->check(CLI::IsMember({"document", "smoke"}));
  app.add_flag("--grid", wanted.grid, "all cells");
  app.add_flag("--huge", wanted.huge, "all cells, and 256 Mi elements of 4 bytes");
  app.add_option("--who", wanted.who, "ways whose names begin like this; all unless given")->delimiter(',');
  app.add_option("--rounds", wanted.options.rounds, "rounds in which all take turns");
  app.add_option("--burst", wanted.options.burst_nanoseconds, "nanoseconds of each turn");
  app.add_option("--hopeless", wanted.options.hopeless,
                 "who takes so many times as long as the best at first does not play");
  app.add_flag("--shortest", wanted.shortest,
               "judge each turn by its shortest sample, not the median: for machines that others use as well");
  app.add_flag("--facts", wanted.facts, "only print what coset knows of each cell, and its plan");
  app.add_flag("--first-use", wanted.first_use, "the first step of a process, for each way in a process of its own");
  app.add_option("--once", wanted.once, "what --first-use starts: one step of this way")->group("");
  app.add_option("--json", wanted.json_file, "write everything to this file");
}

}  // namespace
}  // namespace coset::measure

int main(int count, char** words) {
  using namespace coset::measure;
  arguments wanted;
  wanted.options = {.rounds = 11, .warmup = 1, .burst_nanoseconds = 3e6, .least_iterations = 1, .hopeless = 20};
  CLI::App app("Loops that add into arrays: coset::omp::scatter_add beside its rivals");
  add_options(app, wanted);
  CLI11_PARSE(app, count, words);
  try {
    restart_with_large_stacks(words);
    return run(wanted);
  } catch (std::exception const& failed) {
    fmt::print(stderr, "scatter_bench: {}\n", failed.what());
    return 2;
  }
}
