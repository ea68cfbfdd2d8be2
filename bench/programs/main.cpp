// SPDX-License-Identifier: Apache-2.0
// Programs that reduce arrays, as users write them, beside the same with coset: all in one process, round by round.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/collectives/omp/openmp_threads.hpp"
#include "bench/collectives/tbb/tbb_arena.hpp"
#include "bench/programs/program.hpp"
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
  std::string only, json_file;
  round_options options;
};

/// Results may differ from those of one thread by rounding alone.
constexpr double most_error = 1e-9;

struct machinery {
  explicit machinery(std::vector<unsigned> const& processors) : openmp(processors), tasks(processors) {}
  openmp_threads openmp;
  tbb_arena tasks;
};

/// One way of one program.
class player final : public contestant {
 public:
  player(program& of, way which, machinery& threads)
      : contestant(which.of_tasks ? "tbb" : "omp", std::string(which.name)),
        program_(of),
        way_(std::move(which)),
        threads_(threads) {}

  burst_result burst(workload const&, burst_order const& order) override {
    burst_result result;
    program_.spoil();
    auto const play = [&] { result.nanoseconds = steps(order); };
    if (way_.of_tasks) {
      threads_.tasks.run(play);
    } else {
      threads_.openmp.run([&] {
        omp_set_num_threads(threads_.openmp.threads());
        play();
      });
    }
    result.wrong = program_.error() > most_error;
    return result;
  }

 private:
  std::vector<double> steps(burst_order const& order) const {
    for (std::size_t k = 0; k < order.warmup; ++k) way_.step();
    std::vector<double> samples;
    for (std::size_t k = 0; k < order.iterations; ++k) {
      auto const begin = ticks();
      way_.step();
      samples.push_back(static_cast<double>(ticks() - begin) * nanoseconds_per_tick());
    }
    return samples;
  }

  program& program_;
  way way_;
  machinery& threads_;
};

constexpr program_kind kinds[] = {{"deposition", make_depositions}, {"spectrum", make_spectra},
                                  {"k-means", make_clusterings},    {"forces", make_force_loops},
                                  {"histogram", make_histograms},   {"transpose", make_transposes}};

ordered_json row_of(contestant const& who, figures const& mine, std::vector<double> const& cosets, std::size_t wrong) {
  double const time = median(mine.samples);
  comparison const c = compare(cosets, mine.rounds);
  return {{"who", who.name()},
          {"median_ns", time},
          {"wrong", wrong},
          {"rounds_ns", mine.rounds},
          {"coset_faster",
           {{"median", 1 / c.ratio}, {"low", 1 / c.high}, {"high", 1 / c.low}, {"verdict", name_of(c.verdict)}}}};
}

void print(ordered_json const& row) {
  auto const& faster = row["coset_faster"];
  fmt::print("  {:<18}{:>12.1f}{:>7}{:>9.2f}x [{:.2f}, {:.2f}] {}\n", row["who"].get<std::string>(),
             row["median_ns"].get<double>() / 1e3, row["wrong"].get<int>(), faster["median"].get<double>(),
             faster["low"].get<double>(), faster["high"].get<double>(), faster["verdict"].get<std::string>());
}

/// All ways of one program in the state of the machine in which it was most; false if somebody's results were wrong.
bool measure(program& what, machinery& threads, latency_probe& probe, round_options const& options,
             ordered_json& results) {
  contestants players;
  std::vector<contestant*> seen;
  for (way& each : what.written_for(threads.openmp.threads())) {
    players.push_back(std::make_unique<player>(what, std::move(each), threads));
    seen.push_back(players.back().get());
  }
  problem const nothing{.count = 1, .ranks = 1};
  auto const found = play_rounds(seen, probe, nothing, options, [](std::size_t) {});
  bool const right = std::ranges::all_of(found.wrong, [](std::size_t wrong) { return wrong == 0; });
  if (found.states.empty()) {
    fmt::print("{} threads, {}: the machine changed in every round; results {}\n", threads.openmp.threads(),
               what.name(), right ? "right" : "wrong");
    return right;
  }
  auto const& state = found.states.front();
  fmt::print("{} threads, {}, {} rounds {}\n", threads.openmp.threads(), what.name(), state.rounds, state.state);
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    rows.push_back(row_of(*seen[i], state.of[i], state.of.back().rounds, found.wrong[i]));
    print(rows.back());
  }
  std::fflush(stdout);
  results.push_back({{"threads", threads.openmp.threads()},
                     {"program", what.name()},
                     {"state", state.state},
                     {"rounds", state.rounds},
                     {"rows", rows}});
  return right;
}

int run(arguments const& wanted) {
  topology const machine = topology::machine();
  ordered_json results = ordered_json::array();
  fmt::print("# one step of the program; µs; `coset` is coset::omp::reduction, made once\n");
  fmt::print("# {:<18}{:>12}{:>7}   coset is faster\n", "who", "median", "wrong");
  bool right = true;
  for (std::size_t const threads :
       wanted.threads.empty() ? std::vector<std::size_t>{machine.cores()} : wanted.threads) {
    machinery all(processors_for(machine, threads));
    latency_probe probe(processors_for(machine, std::min<std::size_t>(threads, machine.cores())));
    for (program_kind const& kind : kinds)
      if (wanted.only.empty() || wanted.only == kind.name)
        for (auto const& each : kind.make()) right = measure(*each, all, probe, wanted.options, results) && right;
  }
  if (!wanted.json_file.empty()) std::ofstream(wanted.json_file) << results.dump(1) << '\n';
  return right ? 0 : 1;
}

}  // namespace
}  // namespace coset::measure

int main(int count, char** words) {
  using namespace coset::measure;
  arguments wanted;
  wanted.options.rounds = 15;
  CLI::App app("Programs that reduce arrays, by OpenMP's clause, atomics, by hand, by oneTBB, and with coset");
  app.add_option("-t,--threads", wanted.threads, "numbers of threads; one per core unless given")->delimiter(',');
  std::vector<std::string> names;
  for (program_kind const& kind : kinds) names.emplace_back(kind.name);
  app.add_option("--only", wanted.only, "programs of one kind")->check(CLI::IsMember(names));
  app.add_option("--rounds", wanted.options.rounds, "rounds in which all take turns");
  app.add_option("--burst", wanted.options.burst_nanoseconds, "nanoseconds of each turn");
  app.add_option("--json", wanted.json_file, "write everything to this file");
  CLI11_PARSE(app, count, words);
  try {
    restart_with_large_stacks(words);
    return run(wanted);
  } catch (std::exception const& failed) {
    fmt::print(stderr, "{}: {}\n", words[0], failed.what());
    return 2;
  }
}
