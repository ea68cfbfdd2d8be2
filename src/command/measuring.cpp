// SPDX-License-Identifier: Apache-2.0
// The options of `coset bench` and `coset tune`.
#include "command/measuring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/commands.hpp"
#include "command/numbers.hpp"
#include "command/output.hpp"
#include "coset/topology.hpp"

namespace coset::cli {
namespace {

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (verb const what : all_verbs()) {
    if (!detail::is_exclusive(what)) names.emplace_back(name_of(what));  // that is as scan
  }
  return names;
}

}  // namespace

void add_bench(CLI::App& app) {
  auto const a = std::make_shared<bench_arguments>();
  auto& bench = *app.add_subcommand("bench", "Measure a collective and its rivals");
  constexpr std::uint64_t most_iterations = 10'000'000;
  auto known = verb_names();
  known.emplace_back("all");
  auto* const what = bench.add_option("verb", a->verb, "The collective; all of them with --regret and --guidelines")
                         ->check(one_of(known))
                         ->capture_default_str();
  auto* const b =
      bench.add_option("-b,--min-bytes", a->sizes.smallest, "Smallest size: 8, 4K, 1M")->transform(byte_size());
  auto* const e = bench.add_option("-e,--max-bytes", a->sizes.largest, "Largest size")->transform(byte_size());
  auto* const f = bench.add_option("-f,--factor", a->sizes.factor, "Factor from one size to the next")
                      ->check(whole_number(2, 1 << 20));
  auto* const old_sizes = bench.add_option("--sizes", a->sizes.named, "The sizes, in a form that goes away: 8,1K,4M");
  old_sizes->delimiter(',');
  for (auto* const sizes : {bench.add_option("sizes", a->sizes.named, "Sizes: 8 1K 4M; instead, a sweep"), old_sizes})
    sizes->transform(byte_size())->excludes(b)->excludes(e)->excludes(f);
  bench.add_option("-n,--iterations", a->options.iterations, "Calls per burst; default: as many as take 6 ms")
      ->check(whole_number(1, most_iterations));
  bench.add_option("-w,--warmup", a->options.warmup, "Untimed calls per burst; default: a tenth of the timed ones")
      ->check(whole_number(1, most_iterations));
  auto* const rounds = bench.add_option("--rounds", a->options.rounds, "Turns of each contestant; 7 with --scaling")
                           ->check(whole_number(1, 10000))
                           ->capture_default_str();
  add_ranks(bench, a->ranks, "Threads; default: one per core; with --scaling, the largest number");
  bench.add_option("-d,--type", a->type, "float, double, int32, int64")
      ->check(one_of({"float", "double", "int32", "int64"}))
      ->capture_default_str();
  bench
      .add_option("-o,--op", a->operation,
                  "sum, prod, min, max, or repsum: reproducible sums; the rivals' sums are plain")
      ->check(one_of({"sum", "prod", "min", "max", "repsum"}))
      ->capture_default_str();
  bench
      .add_option("--timing", a->timing,
                  "cycle: rewrite, reduce, read; call: the call alone; alternating: two collectives for each time that "
                  "inputs are rewritten and results read")
      ->check(one_of({"cycle", "call", "alternating"}))
      ->capture_default_str();
  bench
      .add_option("--against", a->against,
                  "Rivals to measure, out of omp, tbb, std, and mpi where the build has found one; default: all")
      ->delimiter(',')
      ->check(one_of({"omp", "tbb", "std", "mpi"}));
  bench
      .add_option("--plan", a->plans,
                  "A plan to measure in addition: algorithm/storage/segment, \"direct/zero_copy\", "
                  "\"plan(file=mine.json)\"; repeatable")
      ->allow_extra_args(false);
  bench.add_flag("--in-place", a->how.in_place, "coset's result replaces its input; the rivals' does not");
  bench.add_flag("--started", a->how.started,
                 "coset's own choice by start_…() and wait(); its named plans and the rivals block");
  auto* const scaling = bench.add_flag(
      "--scaling", a->instead.scaling,
      "Instead, measure five verbs, or the one that is named, and loops of updates on 1 rank and more, compact, "
      "scattered, on each node and one per L3, beside what the machine's memory, caches and flags do on the same "
      "processors, and say what limits each; default sizes: 8, 4K, 64K, 1M and 16M");
  for (auto const* const other : {"--against", "--plan", "--in-place", "--op", "--timing"})
    scaling->excludes(bench.get_option(other));
  auto* const regimes = bench.add_flag(
      "--regimes", a->instead.regimes,
      "Instead, let what the caller does change in the middle of a run, and where ranks are if they can be near and "
      "apart: calls by default against each fixed storage");
  for (auto const* const other :
       {"--against", "--plan", "--in-place", "--op", "--type", "--timing", "--iterations", "--warmup", "--scaling"})
    regimes->excludes(bench.get_option(other));
  auto* const regret = bench.add_flag(
      "--regret", a->instead.regret,
      "Instead, of a verb or of all, hold the default against every plan that can serve, compositions of verbs and the "
      "rivals: its time as a multiple of the least, in cycles and calls");
  auto* const guidelines = bench.add_flag(
      "--guidelines", a->instead.guidelines,
      "Instead, of a verb or of all, hold it against other verbs and compositions that give as much or more");
  for (auto* const judged : {regret, guidelines})
    for (auto const* const other : {"--plan", "--in-place", "--timing", "--scaling", "--regimes"})
      judged->excludes(bench.get_option(other));
  guidelines->excludes(regret)->excludes(bench.get_option("--against"));
  auto* const processes = bench.add_flag("--mpi", a->instead.processes,
                                         "Instead, launched by mpirun with one unbound process per core: compare "
                                         "coset::mpi with OpenMP whose master calls "
                                         "MPI, and with MPI alone");
  for (auto const* const other :
       {"--against", "--plan", "--in-place", "--scaling", "--regimes", "--ranks", "--regret", "--guidelines"})
    processes->excludes(bench.get_option(other));
  bench
      .add_option("--threads", a->instead.threads,
                  "With --mpi: threads per process; must divide the number of each host's cores")
      ->check(whole_number(1, most_ranks))
      ->needs(processes);
  bench
      .add_flag("--all", a->output.all_rows,
                "Print the times of every contestant, not only coset's beside the best rival's")
      ->excludes(scaling)
      ->excludes(regimes);
  bench.add_option("--json", a->output.json, "Write all figures to this file");
  bench.add_option("--csv", a->output.csv, "The same as a table of comma-separated values")->excludes(regimes);
  bench
      .add_option(
          "--report", a->output.report,
          "Write a page with charts, the machine and the reasons for each plan to this file, .html, which needs "
          "nothing else")
      ->excludes(regret)
      ->excludes(guidelines)
      ->excludes(regimes)
      ->excludes(processes);
  bench
      .add_option("--scaling-file", a->output.scaling,
                  "Draw on that page, too, what --scaling --json has written to this file")
      ->check(CLI::ExistingFile)
      ->needs("--report")
      ->excludes(scaling);
  auto* const resume =
      bench
          .add_option("--resume", a->output.resume,
                      "Complete what --scaling --json has written to this file before Ctrl-C, as it was "
                      "asked for then; a complete file is only shown")
          ->check(CLI::ExistingFile)
          ->needs(scaling);
  for (auto const* const other :
       {"verb", "sizes", "-b", "-e", "--ranks", "--type", "--rounds", "--iterations", "--warmup", "--json"})
    resume->excludes(bench.get_option(other));
  bench
      .add_option("--beside", a->output.beside,
                  "Lay what --scaling --json has written to this file, on another machine, side by side with this one")
      ->check(CLI::ExistingFile)
      ->needs(scaling);
  bench.footer(
      "Ctrl-C ends it with the results so far, which say that they are partial, and exit status 130.\nWithout -b, -e "
      "and -f: eight sizes from 8 B "
      "to 4 MiB, about half a minute.");
  bench.callback([a, b, e, f, rounds, old_sizes, what] {
    if (!old_sizes->empty())
      note_old_form("bench", a->verb, CLI::detail::split(fmt::format("{}", fmt::join(old_sizes->results(), ",")), ','));
    a->sizes.range_given = b->count() + e->count() + f->count() > 0;
    a->instead.rounds_given = rounds->count() > 0;
    a->instead.verb_given = what->count() > 0;
    measure_bench(*a);
  });
}

void add_tune(CLI::App& app) {
  auto const a = std::make_shared<tune_arguments>();
  auto& tune = *app.add_subcommand("tune", "Measure this machine and keep by what later teams choose");
  add_ranks(tune, a->ranks, "Threads; default: one per core");
  tune.add_option("-o,--output", a->output, "Write the profile to this file instead of the cache directory");
  tune.footer(
      "Takes about 20 seconds. Later teams of as many ranks use the profile; COSET_TUNING=FILE names another,\n"
      "COSET_TUNING=off none. Ctrl-C ends it with the results so far and exit status 130.");
  tune.callback([a] { measure_tune(*a); });
}

}  // namespace coset::cli
