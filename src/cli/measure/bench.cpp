// SPDX-License-Identifier: Apache-2.0
// `coset bench`: a collective beside its rivals, every result verified.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/bytes.hpp"
#include "cli/commands.hpp"
#include "cli/interruption.hpp"
#include "cli/machine_options.hpp"
#include "cli/measure/bench_processes.hpp"
#include "cli/measure/bench_report.hpp"
#include "cli/measure/bench_scaling.hpp"
#include "cli/measure/regimes.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "coset/topology.hpp"
#include "environment/variables.hpp"
#include "measure/machine/parking.hpp"
#include "numa/quota.hpp"
#include "numa/share.hpp"

namespace coset::cli {
namespace {

struct wanted_sizes {
  std::vector<std::uint64_t> named;
  bool range_given = false;  ///< any of the following
  std::uint64_t smallest = 8, largest = 64 << 20, factor = 2;
};

/// Measurements other than a verb beside its rivals in one process.
struct other_measurement {
  bool scaling = false, processes = false, regimes = false;
  rank_t threads = 1;  ///< of each process
};

struct bench_arguments {
  std::string verb = "allreduce";
  wanted_sizes sizes;
  rank_t ranks = 0;
  std::string type = "float", operation = "sum", timing = "cycle";
  std::vector<std::string> against = measure::rival_families();
  std::vector<std::string> plans;
  bool in_place = false;
  other_measurement instead;
  std::string json_file;
  measure::round_options options;
};

// OpenMP reads its environment when the program is loaded. Its own pinning would confine the initial thread, and so
// what coset finds of the machine; the region pins OpenMP's threads instead. Threads that share processors had best
// wait passively.
void restart_with_openmp_settings(bool share) {
  if (!environment::value("OMP_WAIT_POLICY").empty()) return;
  char const* const policy = share ? "passive" : "active";
  setenv("OMP_WAIT_POLICY", policy, 1);
  setenv("OMP_PROC_BIND", "false", 1);
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line(std::istreambuf_iterator<char>(file), {});
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < line.size(); at += std::strlen(line.data() + at) + 1)
    arguments.push_back(line.data() + at);
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  throw error(fmt::format("cannot restart with OMP_WAIT_POLICY={}: {}", policy, std::strerror(errno)));
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (verb const what : all_verbs()) {
    if (what != verb::exclusive_scan) names.emplace_back(name_of(what));  // as scan
  }
  return names;
}

std::vector<std::uint64_t> sizes(bench_arguments const& a) {
  if (a.verb == "barrier") return {0};
  wanted_sizes const& wanted = a.sizes;
  if (!wanted.named.empty()) return wanted.named;
  if (!wanted.range_given) return {8, 64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
  if (wanted.smallest > wanted.largest) {
    throw argument_error(
        fmt::format("the smallest size, {} B, is above the largest, {} B", wanted.smallest, wanted.largest));
  }
  std::vector<std::uint64_t> all{wanted.smallest};
  while (all.back() <= wanted.largest / wanted.factor) all.push_back(all.back() * wanted.factor);
  return all;
}

/// Every rank has at least an input and a result.
void require_memory_for(std::vector<std::uint64_t> const& sizes, rank_t ranks) {
  auto const memory = numa::free_memory();
  auto const largest = *std::ranges::max_element(sizes);
  if (largest > memory / 2 / ranks)
    throw argument_error(fmt::format("{} ranks with {} of input and of result each do not fit the {} that are free",
                                     ranks, bytes_for_people(largest), bytes_for_people(memory)));
}

std::vector<unsigned> processors_for(rank_t ranks) {
  auto const machine = machine_to_measure();
  std::vector<unsigned> chosen;
  require_room_for(ranks, machine);
  for (auto const& p : numa::place_or_share(machine, ranks > 0 ? ranks : machine.cores(), placement::compact)) {
    chosen.push_back(p.os_index);
  }
  return chosen;
}

measure::measurement measure(bench_arguments const& a, std::uint64_t bytes,
                             std::vector<measure::contestant*> const& players, measure::latency_probe& probe,
                             rank_t ranks) {
  measure::problem shape{measure::element_named(a.type), measure::operation_named(a.operation), 0, ranks,
                         verb_named(a.verb)};
  bool const is_float =
      shape.element == measure::element_kind::float32 || shape.element == measure::element_kind::float64;
  if (shape.operation == measure::operation_kind::reproducible_plus && !is_float)
    throw argument_error(fmt::format("repsum takes float and double, not {}", a.type));
  shape.count = bytes / shape.element_bytes();
  bool const in_pieces = shape.what == verb::reduce_scatter || shape.what == verb::allgather;
  if (in_pieces) shape.count = std::max<std::size_t>(shape.count / ranks, 1) * ranks;
  auto const progress = [&](std::size_t played) {
    show_progress(fmt::format("{}: round {} of {}", bytes_for_people(bytes), played, a.options.rounds));
    stop_if_interrupted();
  };
  auto found = play_rounds(players, probe, shape, a.options, progress);
  show_progress("");
  return found;
}

/// Measures sizes until all are done, the user interrupts, or both the table's reader and the file are gone.
std::vector<measure::measurement> measure_all(bench_arguments const& a, std::vector<std::uint64_t> const& sizes,
                                              std::vector<measure::contestant*> const& players,
                                              std::vector<unsigned> const& processors) {
  measure::latency_probe probe(processors);
  auto const ranks = static_cast<rank_t>(processors.size());
  std::vector<measure::measurement> found;
  remember_interrupts();
  try {
    for (auto const bytes : sizes) {
      found.push_back(measure(a, bytes, players, probe, ranks));
      std::cout << bench_rows(found.back(), players);
      if (standard_output_lost() && a.json_file.empty()) break;
    }
  } catch (interrupted const&) {
    report_interrupt(found.size(), sizes.size());
  }
  return found;
}

void run_bench(bench_arguments a) {
  a.options.timing = a.timing == "cycle" ? measure::timing::cycle : measure::timing::call;
  auto const all_sizes = sizes(a);
  auto const processors = processors_for(a.ranks);
  restart_with_openmp_settings(!measure::have_one_each(processors));
  auto const ranks = static_cast<rank_t>(processors.size());
  verb const what = verb_named(a.verb);
  bench_setting const setting{a.verb, ranks, processors, a.options};
  require_memory_for(all_sizes, ranks);
  output_file const json(a.json_file);

  measure::contestants owned;
  owned.push_back(measure::make_coset(processors, "", a.in_place));
  for (auto const& plan : a.plans) owned.push_back(measure::make_coset(processors, plan, a.in_place));
  owned.push_back(measure::make_flag_round(processors));
  if (what == verb::allreduce) owned.push_back(measure::make_traffic(processors));
  for (auto& rival : measure::make_rivals(what, processors, a.against)) owned.push_back(std::move(rival));
  std::vector<measure::contestant*> players;
  for (auto const& player : owned) players.push_back(player.get());

  std::cout << bench_preamble(setting) << bench_column_heads();
  auto const found = measure_all(a, all_sizes, players, processors);
  std::cout << bench_summary(found, players);
  if (json.wanted()) json.write(text_of(bench_json(setting, found, players)));
  finish(wrong_in(found));
}

void run_scaling(bench_arguments const& a, bool rounds_given) {
  if (a.verb != "allreduce") throw argument_error(fmt::format("--scaling measures allreduce, not {}", a.verb));
  scaling_request request;
  request.element = measure::element_named(a.type);
  request.most_ranks = a.ranks;
  request.json_file = a.json_file;
  if (a.sizes.range_given || !a.sizes.named.empty()) request.sizes = sizes(a);
  request.options = a.options;
  if (!rounds_given) request.options.rounds = scaling_rounds;
  require_memory_for(request.sizes, static_cast<rank_t>(processors_for(a.ranks).size()));
  measure_scaling(request);
}

void run_regimes(bench_arguments const& a) {
  if (a.verb != "allreduce") throw argument_error(fmt::format("--regimes measures allreduce, not {}", a.verb));
  regimes_request request{.ranks = a.ranks, .rounds = a.options.rounds, .json_file = a.json_file};
  if (a.sizes.range_given || !a.sizes.named.empty()) request.sizes = sizes(a);
  require_memory_for(request.sizes, static_cast<rank_t>(processors_for(a.ranks).size()));
  measure_regimes(request);
}

void run_processes(bench_arguments const& a) {
  if (a.verb != "allreduce") throw argument_error(fmt::format("--mpi measures allreduce, not {}", a.verb));
  restart_with_openmp_settings(false);
  processes_request request{
      sizes(a),    a.instead.threads, measure::element_named(a.type), measure::operation_named(a.operation),
      a.json_file, a.options};
  request.options.timing = a.timing == "cycle" ? measure::timing::cycle : measure::timing::call;
  require_memory_for(request.sizes, a.instead.threads);
  measure_processes(request);
}

}  // namespace

void add_bench(CLI::App& app) {
  auto const a = std::make_shared<bench_arguments>();
  auto& bench = *app.add_subcommand("bench", "Measure a collective and its rivals");
  constexpr std::uint64_t most_iterations = 10'000'000;
  bench.add_option("verb", a->verb, "The collective")->check(CLI::IsMember(verb_names()))->capture_default_str();
  auto* const b =
      bench.add_option("-b,--min-bytes", a->sizes.smallest, "Smallest size: 8, 4K, 1M")->transform(byte_size());
  auto* const e = bench.add_option("-e,--max-bytes", a->sizes.largest, "Largest size")->transform(byte_size());
  auto* const f = bench.add_option("-f,--factor", a->sizes.factor, "Factor from one size to the next")
                      ->check(whole_number(2, 1 << 20));
  bench.add_option("--sizes", a->sizes.named, "A list of sizes instead: 8,1K,4M")
      ->delimiter(',')
      ->transform(byte_size())
      ->excludes(b)
      ->excludes(e)
      ->excludes(f);
  bench.add_option("-n,--iterations", a->options.iterations, "Calls per burst; default: as many as take 6 ms")
      ->check(whole_number(1, most_iterations));
  bench.add_option("-w,--warmup", a->options.warmup, "Untimed calls per burst; default: a tenth of the timed ones")
      ->check(whole_number(1, most_iterations));
  auto* const rounds = bench.add_option("--rounds", a->options.rounds, "Turns of each contestant; 5 with --scaling")
                           ->check(whole_number(1, 10000))
                           ->capture_default_str();
  add_ranks(bench, a->ranks, "Threads; default: one per core; with --scaling, the largest number");
  bench.add_option("-d,--type", a->type, "float, double, int32, int64")
      ->check(CLI::IsMember({"float", "double", "int32", "int64"}))
      ->capture_default_str();
  bench
      .add_option("-o,--op", a->operation,
                  "sum, prod, min, max, or repsum: reproducible sums; the rivals' sums are plain")
      ->check(CLI::IsMember({"sum", "prod", "min", "max", "repsum"}))
      ->capture_default_str();
  bench.add_option("--timing", a->timing, "cycle: rewrite, reduce, read; call: the call alone")
      ->check(CLI::IsMember({"cycle", "call"}))
      ->capture_default_str();
  bench
      .add_option("--against", a->against,
                  fmt::format("Rivals to measure, out of {}; default: all", fmt::join(measure::rival_families(), ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(measure::rival_families()));
  bench
      .add_option("--plan", a->plans,
                  "A plan to measure in addition: algorithm/storage/segment, \"direct/zero_copy\"; repeatable")
      ->allow_extra_args(false);
  bench.add_flag("--in-place", a->in_place, "coset's result replaces its input; the rivals' does not");
  auto* const scaling = bench.add_flag(
      "--scaling", a->instead.scaling,
      "Instead, measure allreduce on 1 rank and more, compact, scattered and on each node, and the bandwidth of "
      "plain reads, copies and folds on the same processors; default sizes: 64K, 1M and 16M");
  for (auto const* const other : {"--against", "--plan", "--in-place", "--op", "--timing"})
    scaling->excludes(bench.get_option(other));
  auto* const regimes = bench.add_flag(
      "--regimes", a->instead.regimes,
      "Instead, let what the caller does change in the middle of a run, and where ranks are if they can be near and "
      "apart: calls by default against each fixed storage");
  for (auto const* const other :
       {"--against", "--plan", "--in-place", "--op", "--type", "--timing", "--iterations", "--warmup", "--scaling"})
    regimes->excludes(bench.get_option(other));
  auto* const processes = bench.add_flag("--mpi", a->instead.processes,
                                         "Instead, launched by mpirun with one unbound process per core: compare "
                                         "coset::mpi with OpenMP whose master calls "
                                         "MPI, and with MPI alone");
  for (auto const* const other : {"--against", "--plan", "--in-place", "--scaling", "--regimes", "--ranks"})
    processes->excludes(bench.get_option(other));
  bench
      .add_option("--threads", a->instead.threads,
                  "With --mpi: threads per process; must divide the number of each host's cores")
      ->check(whole_number(1, most_ranks))
      ->needs(processes);
  bench.add_option("--json", a->json_file, "Write all figures to this file");
  bench.footer(
      "Ctrl-C ends it with the results so far and exit status 130.\nWithout -b, -e and -f: eight sizes from 8 B "
      "to 4 MiB, about half a minute.");
  bench.callback([a, b, e, f, rounds] {
    a->sizes.range_given = b->count() + e->count() + f->count() > 0;
    if (a->instead.processes) return run_processes(*a);
    if (a->instead.regimes) return run_regimes(*a);
    a->instead.scaling ? run_scaling(*a, rounds->count() > 0) : run_bench(*a);
  });
}

}  // namespace coset::cli
