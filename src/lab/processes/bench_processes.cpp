// SPDX-License-Identifier: Apache-2.0
// `coset bench --mpi`: process 0 measures and prints, the others play what it asks for.
#include "lab/processes/bench_processes.hpp"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "command/bench/bench_output.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "command/interruption.hpp"
#include "command/machine_options.hpp"
#include "command/measure/harness/hybrid.hpp"
#include "command/output.hpp"
#include "coset/topology.hpp"

namespace coset::cli {
namespace {

std::vector<unsigned> processors_for(rank_t processes) {
  auto const machine = machine_to_measure();
  bool const enough = processes <= machine.processors.size();  // else they share them, unbound
  std::vector<unsigned> chosen;
  for (auto const& p : machine.place(processes, enough ? placement::compact : placement::unbound))
    chosen.push_back(p.os_index);
  return chosen;
}

std::string preamble(measure::hybrid_stage const& stage, processes_request const& r) {
  return fmt::format(
      "# coset allreduce: {}\n"
      "# coset and omp+master: {} processes of {} threads; mpi flat: {} processes; {} hosts\n"
      "# time: {}; contestants take turns in {} rounds, asleep while others run\n"
      "# omp+master: threads fold slices into one array, the master's MPI_Allreduce, all read that array\n"
      "# 1.80×: coset is 1.8 times faster; median of the rounds [95 % interval]\n",
      stage.describe(), stage.ranks() / r.threads, r.threads, stage.ranks(), stage.hosts(), in_words(r.options.timing),
      r.options.rounds);
}

measure::measurement measure(measure::hybrid_stage const& stage, processes_request const& r, std::uint64_t bytes,
                             std::vector<measure::contestant*> const& players, measure::latency_probe& probe) {
  measure::problem shape{r.element, r.operation, 0, stage.ranks(), verb::allreduce};
  shape.count = bytes / shape.element_bytes();
  auto options = r.options;
  options.touches = false;
  auto found = play_rounds(players, probe, shape, options, [&](std::size_t played) {
    show_progress(fmt::format("{}: round {} of {}", bytes_for_people(bytes), played, r.options.rounds));
    stop_if_interrupted();
  });
  show_progress("");
  return found;
}

std::size_t measure_all(measure::hybrid_stage& stage, std::vector<unsigned> const& processors,
                        processes_request const& r, output_file const& json_file, output_file const& csv_file) {
  auto const owned = stage.players();
  bench_results found{{"allreduce", stage.ranks(), processors, r.options, r.output.all_rows}, {}, r.sizes.size()};
  for (auto const& player : owned) found.players.push_back(player.get());
  measure::latency_probe probe(processors);
  auto told = bench_table(found, *std::ranges::max_element(r.sizes));
  std::cout << preamble(stage, r) << told.heads();
  try {
    for (auto const bytes : r.sizes) {
      found.sizes.push_back(measure(stage, r, bytes, found.players, probe));
      std::cout << bench_rows(found.sizes.back(), found, told) << std::flush;
    }
  } catch (interrupted const&) {
    report_interrupt(found.sizes.size(), r.sizes.size());
  }
  std::cout << bench_summary(found, terminal_columns()) << std::flush;
  if (csv_file.wanted()) csv_file.write(bench_csv(found));
  if (json_file.wanted()) {
    auto json = bench_json(found);
    json["threads"] = r.threads;
    json["hosts"] = stage.hosts();
    json_file.write(text_of(json));
  }
  return wrong_in(found.sizes);
}

}  // namespace

void measure_processes(processes_request const& r) {
  measure::mpi_session const session;
  auto const processors = processors_for(session.processes_on_this_host());
  remember_interrupts();  // on all processes: the launcher tells them all, and process 0 ends the others
  measure::hybrid_stage stage(r.threads, processors);
  if (session.process() != 0) return stage.serve();
  output_file const json(r.output.json), csv(r.output.csv);
  finish(measure_all(stage, processors, r, json, csv));
}

}  // namespace coset::cli
