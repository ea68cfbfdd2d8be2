// SPDX-License-Identifier: Apache-2.0
// Main loops of hybrid programs, whole: coset's one call beside what experts write, all in one set of processes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/mpi/loops/turns.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/machine/large_stacks.hpp"
#include "coset/error.hpp"

namespace coset::measure {
namespace {

using nlohmann::ordered_json;

struct arguments {
  std::size_t threads = 0, updates = 0;
  std::vector<std::string> programs = {"histogram"}, who;
  std::vector<std::size_t> bytes;
  std::string json_file;
  turn_options options;
};

/// coset's one call always plays, as others are compared with it.
hybrid_ways ways_of(loop_cell const& cell, std::shared_ptr<coset_threads> const& threads, arguments const& wanted) {
  hybrid_ways all;
  add_coset(all, cell, threads);
  add_by_hand(all, cell);
  add_window(all, cell);
  std::string const chosen = all.front()->name();
  std::erase_if(all, [&](auto const& way) {
    return !wanted.who.empty() && way->name() != chosen &&
           std::ranges::none_of(wanted.who, [&](auto const& begin) { return way->name().starts_with(begin); });
  });
  return all;
}

ordered_json row_of(hybrid_way const& way, way_figures const& its, way_figures const& of_coset) {
  if (!its.declined.empty()) {
    fmt::print("  {:<24}{}{}\n", way.name(), its.declined, its.wrong > 0 ? ", and is WRONG" : "");
    return {{"who", way.name()}, {"declined", its.declined}, {"wrong", its.wrong}};
  }
  double const time = median(its.rounds);
  advantage const faster = advantage_of(compare(of_coset.rounds, its.rounds));
  fmt::print("  {:<24}{:>14.2f}{:>8}{:>7}{:>9.2f}x [{:.2f}, {:.2f}]\n", way.name(), time / 1e3, its.cycles, its.wrong,
             faster.median, faster.low, faster.high);
  return {{"who", way.name()},
          {"median_ns", time},
          {"cycles", its.cycles},
          {"wrong", its.wrong},
          {"rounds_ns", its.rounds},
          {"coset_faster", {{"median", faster.median}, {"low", faster.low}, {"high", faster.high}}}};
}

/// What process 0 prints and keeps.
ordered_json cell_of(processes const& all, loop_shape const& shape, std::size_t length, hybrid_ways const& ways,
                     std::vector<way_figures> const& figures) {
  fmt::print("{} x {}, {} host{}, {}, {} doubles, {} updates per thread, {} rounds\n", all.size(), all.threads(),
             all.hosts(), all.hosts() == 1 ? "" : "s", shape.program, length, shape.updates,
             figures.front().rounds.size());
  ordered_json rows = ordered_json::array();
  for (std::size_t w = 0; w < ways.size(); ++w) rows.push_back(row_of(*ways[w], figures[w], figures.front()));
  std::fflush(stdout);
  return {{"processes", all.size()},
          {"threads", all.threads()},
          {"hosts", all.hosts()},
          {"program", shape.program},
          {"bytes", length * 8},
          {"updates", shape.updates},
          {"rounds", figures.front().rounds.size()},
          {"rows", rows}};
}

/// The document's table: bins, and the updates of each thread that go with so many.
constexpr struct {
  std::size_t length, updates;
} table[] = {{1 << 10, 2'000}, {1 << 16, 20'000}, {1 << 19, 100'000}, {1 << 21, 500'000}};

std::size_t updates_for(std::size_t length) {
  for (auto const& row : table)
    if (length <= row.length * 2) return row.updates;
  return std::end(table)[-1].updates;
}

std::vector<loop_shape> shapes_of(arguments const& wanted) {
  std::vector<loop_shape> all;
  for (std::string const& program : wanted.programs) {
    std::vector<std::size_t> bytes = wanted.bytes;
    for (auto const& row : table) {
      // Looking for the nearest of so many centres would take longer than anything that is compared here.
      if (wanted.bytes.empty() && (program != "k-means" || row.length <= 1 << 10))
        bytes.push_back(row.length * sizeof(double));
    }
    for (std::size_t const each : bytes) {
      std::size_t const length = each / sizeof(double);
      all.push_back({program, length, wanted.updates > 0 ? wanted.updates : updates_for(length)});
    }
  }
  return all;
}

/// Returns whether all results were right.
bool run(processes& all, arguments const& wanted) {
  auto const threads = make_coset_threads(all.threads());
  if (all.is_first()) {
    fmt::print("# {}\n# {:<24}{:>14}{:>8}{:>7}   coset is faster\n", describe(*threads), "who", "median, µs", "cycles",
               "wrong");
  }
  ordered_json results = ordered_json::array();
  bool right = true;
  for (loop_shape const& shape : shapes_of(wanted)) {
    std::size_t const own = all.threads(), process = static_cast<std::size_t>(all.rank());
    auto const loop = make_loop(shape, {process * own, own, own * static_cast<std::size_t>(all.size())});
    loop_cell const cell(all, *loop);
    hybrid_ways ways = ways_of(cell, threads, wanted);
    auto const figures = play_turns(ways, cell, wanted.options);
    for (way_figures const& each : figures) right = right && each.wrong == 0;
    if (!all.is_first()) continue;
    results.push_back(cell_of(all, shape, cell.length(), ways, figures));
    // Whoever ends a long run early has the cells so far.
    if (!wanted.json_file.empty()) std::ofstream(wanted.json_file) << results.dump(1) << '\n';
  }
  return right;
}

void add_options(CLI::App& app, arguments& wanted) {
  app.add_option("-t,--threads", wanted.threads, "threads of each process; OpenMP's own number unless given");
  app.add_option("--program", wanted.programs, "the loops; histogram unless given")
      ->delimiter(',')
      ->check(CLI::IsMember(loop_names()));
  app.add_option("--bytes", wanted.bytes, "sizes of all arrays together, like 1KiB,64MiB; a table's unless given")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1} << 10, std::size_t{1} << 30));
  app.add_option("--updates", wanted.updates,
                 "elements to which each thread adds in a cycle; the table's unless given");
  app.add_option("--who", wanted.who, "ways whose names begin like this; all unless given")->delimiter(',');
  app.add_option("--rounds", wanted.options.rounds, "rounds in which all take turns")->check(CLI::PositiveNumber);
  app.add_option("--burst", wanted.options.turn_nanoseconds, "nanoseconds of each turn");
  app.add_option("--hopeless", wanted.options.hopeless,
                 "who takes so many times as long as the best at first does not play on; 0: all do");
  app.add_flag("--shortest", wanted.options.shortest,
               "judge each turn by the shortest sixteenth of it, not by all: for machines that others use as well");
  app.add_option("--json", wanted.json_file, "write everything to this file");
}

}  // namespace
}  // namespace coset::measure

int main(int count, char** words) {
  using namespace coset::measure;
  arguments wanted;
  CLI::App app(
      "Main loops of programs of MPI and OpenMP: coset's one call beside its rivals. Start it by mpirun. With more "
      "threads "
      "than processors set OMP_WAIT_POLICY=passive, or all that is measured is how long threads of OpenMP spin.");
  add_options(app, wanted);
  CLI11_PARSE(app, count, words);
  try {
    restart_with_large_stacks(words);
    if (wanted.threads > 0) omp_set_num_threads(static_cast<int>(wanted.threads));
    omp_set_dynamic(0);
    processes all(static_cast<std::size_t>(omp_get_max_threads()));
    try {
      return run(all, wanted) ? 0 : 1;
    } catch (std::exception const& failed) {
      // The other processes may be waiting for this one.
      fmt::print(stderr, "coset_hybrid_loops, process {}: {}\n", all.rank(), failed.what());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  } catch (std::exception const& failed) {
    fmt::print(stderr, "coset_hybrid_loops: {}\n", failed.what());
  }
  return 2;
}
