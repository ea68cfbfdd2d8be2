// SPDX-License-Identifier: Apache-2.0
// `coset bench`: a collective beside its rivals, every result verified.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/environment/variables.hpp"
#include "base/text/file.hpp"
#include "command/bench/bench.hpp"
#include "command/bench/bench_output.hpp"
#include "command/bench/processes_request.hpp"
#include "command/bench/regimes.hpp"
#include "command/bench/regret.hpp"
#include "command/bench/scaling/kept.hpp"
#include "command/bench/scaling/scaling.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "command/inspect/info.hpp"
#include "command/interruption.hpp"
#include "command/lab.hpp"
#include "command/machine_options.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/machine/parking.hpp"
#include "command/measuring.hpp"
#include "command/output.hpp"
#include "command/restart.hpp"
#include "command/why/why.hpp"
#include "command/why/why_measured.hpp"
#include "coset/topology.hpp"
#include "numa/quota.hpp"
#include "numa/share.hpp"

namespace coset::cli {
namespace {

// OpenMP reads its environment when the program is loaded. Its own pinning would confine the initial thread, and so
// what coset finds of the machine; the region pins OpenMP's threads instead. Threads that share processors had best
// wait passively.
void restart_with_openmp_settings(bool share) {
  if (!environment::value("OMP_WAIT_POLICY").empty()) return;
  char const* const policy = share ? "passive" : "active";
  setenv("OMP_WAIT_POLICY", policy, 1);
  setenv("OMP_PROC_BIND", "false", 1);
  start_instead("/proc/self/exe");
}

std::vector<std::uint64_t> sizes_wanted(bench_arguments const& a) {
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

/// Measures sizes until all are done, the user interrupts, or both the table's reader and the files are gone.
void measure_all(bench_arguments const& a, std::vector<std::uint64_t> const& sizes, bench_results& into) {
  auto const& setting = into.setting;
  measure::latency_probe probe(setting.processors);
  bool const has_file = !(a.output.json + a.output.csv + a.output.report).empty();
  into.asked = sizes.size();
  auto told = bench_table(into, *std::ranges::max_element(sizes));
  std::cout << bench_preamble(setting) << told.heads();
  remember_interrupts();
  try {
    for (auto const bytes : sizes) {
      into.sizes.push_back(play_size(a, bytes, into.players, probe, setting.ranks));
      std::cout << bench_rows(into.sizes.back(), into, told);
      if (standard_output_lost() && !has_file) break;
    }
  } catch (interrupted const&) {
    report_interrupt(into.sizes.size(), sizes.size());
  }
}

/// What the page shows besides the figures: why each size has its plan.
nlohmann::ordered_json reasons(bench_arguments const& a, bench_results const& found) {
  auto all = nlohmann::ordered_json::array();
  for (auto const& m : found.sizes)
    all.push_back(why_here(found.setting.verb, m.shape.bytes(), found.setting.ranks, a.how.in_place));
  return all;
}

void run_bench(bench_arguments a) {
  a.options.timing = timing_named(a.timing);
  auto const all_sizes = sizes_wanted(a);
  auto const processors = processors_for(a.ranks);
  if (lab != nullptr) restart_with_openmp_settings(!measure::have_one_each(processors));
  auto const ranks = static_cast<rank_t>(processors.size());
  verb const what = verb_named(a.verb);
  bench_results found{{a.verb, ranks, processors, a.options, a.output.all_rows}, {}};
  require_memory_for(all_sizes, ranks);
  output_file const json(a.output.json), csv(a.output.csv), page(a.output.report);
  auto const scaling = a.output.scaling.empty() ? nlohmann::ordered_json() : scaling_file(a.output.scaling);
  auto const machine = page.wanted() ? machine_here() : nlohmann::ordered_json();

  measure::contestants owned;
  owned.push_back(measure::make_coset(processors, "", a.how));
  for (auto const& plan : a.plans) owned.push_back(measure::make_coset(processors, plan, {.in_place = a.how.in_place}));
  owned.push_back(measure::make_flag_round(processors));
  if (detail::folds_for_all(what)) owned.push_back(measure::make_traffic(processors));
  if (auto const families = rivals_named(a.against); !families.empty())
    for (auto& rival : lab->make_rivals(what, processors, families)) owned.push_back(std::move(rival));
  for (auto const& player : owned) found.players.push_back(player.get());

  measure_all(a, all_sizes, found);
  std::cout << bench_summary(found, terminal_columns()) << bench_hints(found, a.output.report);
  auto const figures = bench_json(found);
  if (json.wanted()) json.write(text_of(figures));
  if (csv.wanted()) csv.write(bench_csv(found));
  if (page.wanted()) {
    nlohmann::ordered_json data{
        {"machine", machine}, {"bench", figures}, {"why", reasons(a, found)}, {"csv", bench_csv(found)}};
    if (!scaling.is_null()) data["scaling"] = scaling;
    page.write(lab->report_page(data));
  }
  finish(wrong_in(found.sizes));
}

void run_scaling(bench_arguments const& a) {
  scaling_request request;
  request.element = measure::element_named(a.type);
  request.most_ranks = a.ranks;
  request.output = a.output;
  if (a.instead.verb_given) request.verbs = {verb_named(a.verb)};
  if (a.sizes.range_given || !a.sizes.named.empty() || detail::is_barrier(request.verbs.front()))
    request.sizes = sizes_wanted(a);
  request.options = a.options;
  if (!a.instead.rounds_given) request.options.rounds = scaling_rounds;
  require_memory_for(request.sizes, static_cast<rank_t>(processors_for(a.ranks).size()));
  measure_scaling(request);
}

void run_judged(bench_arguments const& a) {
  judged_request r{{a.verb}, sizes_wanted(a), processors_for(a.ranks), a};
  if (!a.instead.verb_given || a.verb == "all") {
    r.verbs.clear();
    for (verb const what : all_verbs()) {
      bool const is_as_scan = detail::is_exclusive(what);
      if (!is_as_scan && (!a.how.started || measure::may_start(what))) r.verbs.emplace_back(name_of(what));
    }
  }
  if (!a.instead.rounds_given) r.arguments.options.rounds = judged_rounds;
  if (lab != nullptr && a.instead.regret) restart_with_openmp_settings(!measure::have_one_each(r.processors));
  require_memory_for(r.sizes, static_cast<rank_t>(r.processors.size()));
  a.instead.regret ? measure_regret(r) : measure_guidelines(r);
}

void run_regimes(bench_arguments const& a) {
  if (a.verb != "allreduce") throw argument_error(fmt::format("--regimes measures allreduce, not {}", a.verb));
  regimes_request request{.ranks = a.ranks, .rounds = a.options.rounds, .json_file = a.output.json};
  if (a.sizes.range_given || !a.sizes.named.empty()) request.sizes = sizes_wanted(a);
  require_memory_for(request.sizes, static_cast<rank_t>(processors_for(a.ranks).size()));
  measure_regimes(request);
}

void run_processes(bench_arguments const& a) {
  if (a.verb != "allreduce") throw argument_error(fmt::format("--mpi measures allreduce, not {}", a.verb));
  restart_with_openmp_settings(false);
  processes_request request{
      sizes_wanted(a), a.instead.threads, measure::element_named(a.type), measure::operation_named(a.operation),
      a.output,        a.options};
  request.options.timing = timing_named(a.timing);
  require_memory_for(request.sizes, a.instead.threads);
  lab->measure_processes(request);
}

/// Seconds, in the state of the machine in which most rounds were played.
double one_way_in(measure::measurement const& rounds) {
  return rounds.states.empty() ? 0 : rounds.states.front().one_way * 1e-9;
}

}  // namespace

measure::measurement play_size(bench_arguments const& a, std::uint64_t bytes,
                               std::vector<measure::contestant*> const& players, measure::latency_probe& probe,
                               rank_t ranks) {
  measure::problem shape{measure::element_named(a.type), measure::operation_named(a.operation), 0, ranks,
                         verb_named(a.verb)};
  bool const is_float =
      shape.element == measure::element_kind::float32 || shape.element == measure::element_kind::float64;
  if (shape.operation == measure::operation_kind::reproducible_plus && !is_float)
    throw argument_error(fmt::format("repsum takes float and double, not {}", a.type));
  shape.count = bytes / shape.element_bytes();
  bool const in_pieces = detail::is_of_pieces(shape.what);
  if (in_pieces) shape.count = std::max<std::size_t>(shape.count / ranks, 1) * ranks;
  auto const progress = [&](std::size_t played) {
    show_progress(fmt::format("{}: round {} of {}", bytes_for_people(bytes), played, a.options.rounds));
    stop_if_interrupted();
  };
  auto found = play_rounds(players, probe, shape, a.options, progress);
  show_progress("");
  return found;
}

std::vector<std::string> rivals_named(std::vector<std::string> const& named) {
  if (lab == nullptr && named.empty()) return {};
  auto const& there = need_lab("rivals").rival_families();
  for (auto const& family : named)
    if (std::ranges::find(there, family) == there.end())
      throw argument_error(fmt::format("no rival {} in this build; it has {}", family, fmt::join(there, ", ")));
  return named.empty() ? there : named;
}

void measure_bench(bench_arguments const& a) {
  bool const is_judged = a.instead.regret || a.instead.guidelines;
  if (a.verb == "all" && !is_judged) throw argument_error("all verbs are measured by --regret and --guidelines");
  if (a.instead.processes) (void)need_lab("to measure beside MPI");
  if (!a.output.report.empty()) (void)need_lab("the page of --report");
  bool const has_rivals = !a.instead.scaling && !a.instead.regimes && !a.instead.guidelines;
  if (prefer_lab() == nullptr && has_rivals)
    std::cerr << "coset is measured alone: its rivals are in the package coset-lab\n";
  if (a.instead.processes) return run_processes(a);
  if (a.instead.regimes) return run_regimes(a);
  if (is_judged) return run_judged(a);
  a.instead.scaling ? run_scaling(a) : run_bench(a);
}

std::vector<measured_plan> measure_plans(plans_to_measure const& asked) {
  bench_arguments a;
  a.verb = asked.verb;
  auto const processors = processors_for(asked.ranks);
  auto const ranks = static_cast<rank_t>(processors.size());
  require_memory_for({asked.bytes}, ranks);
  measure::contestants owned;
  std::vector<measure::contestant*> players;
  for (auto const& plan : asked.plans) {
    owned.push_back(measure::make_coset(processors, plan, {.in_place = asked.in_place}));
    players.push_back(owned.back().get());
  }
  std::size_t const work = players.size();
  owned.push_back(measure::make_own_work(processors));
  players.push_back(owned.back().get());
  measure::latency_probe probe(processors);
  std::vector<measured_plan> found(work);
  for (auto const timing : {measure::timing::call, measure::timing::cycle}) {
    a.options.timing = timing;
    auto const rounds = play_size(a, asked.bytes, players, probe, ranks);
    // In place, ranks read what they have written: own_work reads another array.
    auto const added = asked.in_place ? std::vector<double>(work, 0) : measure::added_to(rounds, work);
    for (std::size_t i = 0; i < work; ++i) {
      if (timing == measure::timing::cycle) found[i].added = added[i] * 1e-9, found[i].one_way = one_way_in(rounds);
      found[i].declined = rounds.declined[i];
      bool const played = !rounds.states.empty() && !rounds.states.front().of[i].rounds.empty();
      auto& seconds = timing == measure::timing::call ? found[i].call : found[i].cycle;
      if (played) seconds = measure::median(rounds.states.front().of[i].rounds) * 1e-9;
    }
  }
  return found;
}

}  // namespace coset::cli
