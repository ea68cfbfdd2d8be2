// SPDX-License-Identifier: Apache-2.0
// Reduces arrays step by step as OpenMP and oneTBB programs do, with their means and with coset's, all in one process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/reducer/scatter.hpp"
#include "command/measure/harness/rounds.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/machine/large_stacks.hpp"
#include "command/measure/machine/processors.hpp"
#include "coset/topology.hpp"

namespace coset::measure {
namespace {

using nlohmann::ordered_json;

struct arguments {
  std::vector<std::size_t> threads;
  std::vector<std::size_t> elements = {256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};
  std::size_t sparse_elements = 16 << 20;
  double updates = 1;
  std::string json_file;
  round_options options;
};

struct shape {
  std::string name;
  std::size_t elements, updates;
  pattern where;
};

std::vector<shape> shapes_of(arguments const& wanted) {
  std::vector<shape> all;
  for (std::size_t const n : wanted.elements)
    all.push_back({fmt::format("{} bins", n), n, static_cast<std::size_t>(static_cast<double>(n) * wanted.updates),
                   pattern::everywhere});
  if (std::size_t const n = wanted.sparse_elements; n > 0) {
    all.push_back({fmt::format("1 % of {}, in a window", n), n, n / 100, pattern::window});
    all.push_back({fmt::format("1 % of {}, scattered", n), n, n / 100, pattern::everywhere});
  }
  return all;
}

/// The players, and who of coset's each of the others is compared with: the one before it in its group.
struct field {
  std::vector<stepping*> players;
  std::vector<std::size_t> rival_of;  ///< [player]: coset's; its own number for coset's
};

field field_of(steppers const& all) {
  field made;
  for (auto const& one : all) {
    std::size_t const at = made.players.size();
    made.players.push_back(one.get());
    made.rival_of.push_back(one->family() == "coset" ? at : made.rival_of.back());
  }
  return made;
}

ordered_json row_of(field const& of, state_figures const& state, std::size_t p, std::size_t wrong) {
  auto const& mine = state.of[p];
  spread const time = spread_of(mine.samples);
  ordered_json row{{"who", of.players[p]->name()}, {"family", of.players[p]->family()},
                   {"median_ns", time.median},     {"min_ns", time.minimum},
                   {"p99_ns", time.p99},           {"wrong", wrong},
                   {"rounds_ns", mine.rounds}};
  fmt::print("  {:<24}{:>14.2f}{:>14.2f}{:>14.2f}{:>8}", of.players[p]->name(), time.median / 1e3, time.minimum / 1e3,
             time.p99 / 1e3, wrong);
  if (of.rival_of[p] != p) {
    comparison const c = compare(state.of[of.rival_of[p]].rounds, mine.rounds);
    row["coset_faster"] = {
        {"median", 1 / c.ratio}, {"low", 1 / c.high}, {"high", 1 / c.low}, {"verdict", name_of(c.verdict)}};
    fmt::print("{:>9.2f}x [{:.2f}, {:.2f}] {}", 1 / c.ratio, 1 / c.high, 1 / c.low, name_of(c.verdict));
  }
  fmt::print("\n");
  return row;
}

/// All players on one shape; false if somebody's array was wrong.
bool measure(shape const& what, field const& of, latency_probe& probe, rank_t threads, round_options const& options,
             ordered_json& results) {
  scatter const work(what.elements, what.updates, what.where);
  std::vector<contestant*> players;
  for (stepping* const one : of.players) {
    one->prepare(work);
    players.push_back(one);
  }
  problem const p{.element = element_kind::float64, .count = what.elements, .ranks = threads};
  auto const found = play_rounds(players, probe, p, options, [](std::size_t) {});
  ordered_json states = ordered_json::array();
  for (auto const& state : found.states) {
    fmt::print("{} threads, {}, {} updates, {} rounds {}\n", threads, what.name, what.updates, state.rounds,
               state.state);
    ordered_json rows = ordered_json::array();
    for (std::size_t i = 0; i < players.size(); ++i) rows.push_back(row_of(of, state, i, found.wrong[i]));
    states.push_back({{"state", state.state}, {"rounds", state.rounds}, {"rows", rows}});
  }
  std::fflush(stdout);
  results.push_back({{"threads", threads},
                     {"shape", what.name},
                     {"elements", what.elements},
                     {"updates", what.updates},
                     {"states", states}});
  return std::all_of(found.wrong.begin(), found.wrong.end(), [](std::size_t wrong) { return wrong == 0; });
}

int run(arguments const& wanted) {
  topology const machine = topology::machine();
  ordered_json results = ordered_json::array();
  fmt::print("# a step: updates at random elements of double by all threads, combined into one array; µs\n");
  fmt::print("# {:<24}{:>14}{:>14}{:>14}{:>8}   coset is faster\n", "who", "median", "min", "p99", "wrong");
  bool right = true;
  for (std::size_t const threads :
       wanted.threads.empty() ? std::vector<std::size_t>{machine.cores()} : wanted.threads) {
    auto const processors = processors_for(machine, threads);
    steppers all = make_openmp_steppers(processors), others = make_tbb_steppers(processors);
    std::move(others.begin(), others.end(), std::back_inserter(all));
    latency_probe probe(processors_for(machine, std::min<std::size_t>(threads, machine.cores())));
    for (shape const& what : shapes_of(wanted))
      right = measure(what, field_of(all), probe, static_cast<rank_t>(threads), wanted.options, results) && right;
  }
  if (!wanted.json_file.empty()) std::ofstream(wanted.json_file) << results.dump(1) << '\n';
  return right ? 0 : 1;
}

}  // namespace
}  // namespace coset::measure

int main(int count, char** words) {
  using namespace coset::measure;
  arguments wanted;
  wanted.options.rounds = 11;
  CLI::App app("Array reductions in OpenMP and oneTBB programs, with their means and with coset's");
  app.add_option("-t,--threads", wanted.threads, "numbers of threads; one per core unless given")->delimiter(',');
  app.add_option("--elements", wanted.elements, "lengths of dense arrays")->delimiter(',');
  app.add_option("--sparse", wanted.sparse_elements, "length of the array of which 1 % is touched; 0: none");
  app.add_option("--updates", wanted.updates, "updates per element of a dense array and step");
  app.add_option("--rounds", wanted.options.rounds, "rounds in which all take turns");
  app.add_option("--json", wanted.json_file, "write everything to this file");
  CLI11_PARSE(app, count, words);
  try {
    restart_with_large_stacks(words);
    return run(wanted);
  } catch (std::exception const& failed) {
    fmt::print(stderr, "reducer_bench: {}\n", failed.what());
    return 2;
  }
}
