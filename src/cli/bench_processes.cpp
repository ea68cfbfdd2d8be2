// SPDX-License-Identifier: Apache-2.0
// `coset bench --mpi`: process 0 measures and prints, the others play what it asks for.
#include "cli/bench_processes.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/mpi/hybrid.hpp"
#include "cli/bench_report.hpp"
#include "cli/bytes.hpp"
#include "coset/topology.hpp"

namespace coset::cli {
namespace {

std::vector<unsigned> processors_for(rank_t processes) {
  auto const machine = topology::machine();
  bool const enough = processes <= machine.processors.size();  // else they share them, unbound
  std::vector<unsigned> chosen;
  for (auto const& p : machine.place(processes, enough ? placement::compact : placement::unbound))
    chosen.push_back(p.os_index);
  return chosen;
}

std::string preamble(bench::hybrid_stage const& stage, processes_request const& r) {
  bool const cycle = r.options.timing == bench::timing::cycle;
  return fmt::format(
      "# coset allreduce: {}\n"
      "# coset and omp+master: {} processes of {} threads; mpi flat: {} processes; {} hosts\n"
      "# time: {}; contestants take turns in {} rounds, asleep while others run\n"
      "# omp+master: threads fold slices into one array, the master's MPI_Allreduce, all read that array\n",
      stage.describe(), stage.ranks() / r.threads, r.threads, stage.ranks(), stage.hosts(),
      cycle ? "one cycle of: owner rewrites its input, collective, every rank reads the whole result"
            : "the call alone after an untimed barrier, averaged over ranks",
      r.options.rounds);
}

std::size_t wrong_in(std::vector<bench::measurement> const& all) {
  std::size_t wrong = 0;
  for (auto const& m : all) wrong = std::accumulate(m.wrong.begin(), m.wrong.end(), wrong);
  return wrong;
}

std::size_t measure(bench::hybrid_stage& stage, std::vector<unsigned> const& processors, processes_request const& r) {
  auto const owned = stage.players();
  std::vector<bench::contestant*> players;
  for (auto const& player : owned) players.push_back(player.get());
  bench::latency_probe probe(processors);
  fmt::print("{}{}", preamble(stage, r), bench_column_heads());
  std::vector<bench::measurement> found;
  for (auto const bytes : r.sizes) {
    bench::problem shape{r.element, r.operation, 0, stage.ranks(), verb::allreduce};
    shape.count = bytes / shape.element_bytes();
    found.push_back(play_rounds(players, probe, shape, r.options, [&](std::size_t played) {
      show_progress(fmt::format("{}: round {} of {}", bytes_for_people(bytes), played, r.options.rounds));
    }));
    show_progress("");
    fmt::print("{}", bench_rows(found.back(), players));
    std::fflush(stdout);
  }
  fmt::print("{}", bench_summary(found, players));
  if (!r.json_file.empty()) {
    auto json = bench_json({"allreduce", stage.ranks(), processors, r.options}, found, players);
    json["threads"] = r.threads;
    json["hosts"] = stage.hosts();
    write_json(r.json_file, json);
  }
  return wrong_in(found);
}

}  // namespace

void measure_processes(processes_request const& r) {
  bench::mpi_session const session;
  auto const processors = processors_for(session.processes_on_this_host());
  bench::hybrid_stage stage(r.threads, processors);
  if (session.process() != 0) return stage.serve();
  if (std::size_t const wrong = measure(stage, processors, r); wrong > 0) {
    fmt::print(stderr, "coset: {} wrong items\n", wrong);
    throw CLI::RuntimeError(1);
  }
}

}  // namespace coset::cli
