// SPDX-License-Identifier: Apache-2.0
// The contestants, and the bandwidths computed from their times.
#include "command/bench/bench_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command/bench/bench_output.hpp"
#include "command/bytes.hpp"
#include "command/inspect/info.hpp"
#include "command/interruption.hpp"
#include "command/lab.hpp"
#include "command/machine_options.hpp"
#include "command/measure/harness/rows.hpp"
#include "command/output.hpp"

namespace coset::cli {
namespace {

/// Their order among the players.
enum player : std::size_t { allreduce, reading, copying, plain_kernel, streaming_kernel };

measure::contestants players_on(std::vector<unsigned> const& processors) {
  measure::contestants all;
  all.push_back(measure::make_coset(processors));
  all.push_back(measure::make_reading(processors));
  all.push_back(measure::make_copying(processors));
  all.push_back(measure::make_folding(processors, false));
  all.push_back(measure::make_folding(processors, true));
  return all;
}

/// GB/s of ranks that move `bytes` each: per rank, since nodes differ.
std::vector<double> by_rank(measure::figures const& of, double bytes) {
  std::vector<double> found;
  for (std::size_t rank = 0; !of.by_rank.empty() && rank < of.by_rank.front().size(); ++rank) {
    std::vector<double> times;
    for (auto const& round : of.by_rank) times.push_back(round[rank]);
    found.push_back(bytes / measure::median(times));
  }
  return found;
}

/// A call folds a slice of all inputs and writes it to all outputs; a cycle writes the input and reads the result too.
double bytes_moved(measure::problem const& p, measure::timing timing) {
  return static_cast<double>(p.bytes()) * (timing == measure::timing::cycle ? 4 : 2);
}

double sum(std::vector<double> const& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

void add_bandwidths(topology const& machine, scaling_row& row, measure::state_figures const& state) {
  double const once = static_cast<double>(row.problem.bytes());
  auto const plain = by_rank(state.of[plain_kernel], 2 * once),
             streaming = by_rank(state.of[streaming_kernel], 2 * once);
  bool const streams = sum(streaming) > sum(plain);
  row.kernel = streams ? "streaming" : "plain";
  auto const& kernel = streams ? streaming : plain;
  auto const read = by_rank(state.of[reading], once), copy = by_rank(state.of[copying], 2 * once),
             own = by_rank(state.of[allreduce], bytes_moved(row.problem, row.timing));
  auto const add = [&](bandwidths& to, rank_t r) {
    to.read += read[r];
    to.copy += copy[r];
    to.kernel += kernel[r];
    to.allreduce += own[r];
  };
  std::map<unsigned, bandwidths> node;
  for (rank_t r = 0; r < row.problem.ranks; ++r) {
    add(row.all, r);
    add(node[machine.nodes[row.shape.places[r].node].os_index], r);
  }
  row.node.assign(node.begin(), node.end());
}

scaling_row row_of(topology const& machine, scaling_shape const& shape, measure::measurement const& found,
                   std::vector<measure::contestant*> const& players, measure::timing timing) {
  scaling_row row;
  row.shape = shape;
  row.problem = found.shape;
  row.timing = timing;
  row.wrong = found.wrong[allreduce];
  if (found.states.empty()) return row;
  auto const& state = found.states.front();
  row.state = state.state;
  row.rounds = state.rounds;
  auto const figures = measure::rows_of(found, state, players).front();
  row.algorithm_bandwidth = figures.algorithm_bandwidth;
  row.bus_bandwidth = figures.bus_bandwidth;
  add_bandwidths(machine, row, state);
  return row;
}

/// All sizes and both timings of one shape.
void measure_shape(scaling_request const& request, topology const& machine, scaling_shape const& shape,
                   table const& told, std::vector<scaling_row>& rows) {
  std::vector<unsigned> processors;
  for (processor const& p : shape.places) processors.push_back(p.os_index);
  auto const owned = players_on(processors);
  std::vector<measure::contestant*> players;
  for (auto const& player : owned) players.push_back(player.get());
  measure::latency_probe probe(processors);
  for (std::uint64_t const bytes : request.sizes) {
    measure::problem problem{.element = request.element, .ranks = static_cast<rank_t>(processors.size())};
    problem.count = std::max<std::size_t>(bytes / problem.element_bytes(), 1);
    for (auto const timing : {measure::timing::cycle, measure::timing::call}) {
      auto options = request.options;
      options.timing = timing;
      auto const progress = [&](std::size_t played) {
        show_progress(fmt::format("{} ranks, {}, {}: round {} of {}", processors.size(), shape.place,
                                  bytes_for_people(bytes), played, options.rounds));
        stop_if_interrupted();
      };
      rows.push_back(row_of(machine, shape, play_rounds(players, probe, problem, options, progress), players, timing));
      show_progress("");
      std::cout << scaling_lines(rows.back(), told) << std::flush;
    }
  }
}

}  // namespace

void measure_scaling(scaling_request const& request) {
  auto const machine = machine_to_measure();
  auto const shapes = scaling_shapes(machine, request.most_ranks);
  output_file const json(request.output.json), page(request.output.report);
  bool const has_file = json.wanted() || page.wanted();
  auto const here = page.wanted() ? machine_here() : nlohmann::ordered_json();
  auto const told = scaling_table(request, shapes);
  std::cout << scaling_heads(machine, request) << told.heads();
  std::vector<scaling_row> rows;
  std::size_t measured = 0;
  remember_interrupts();
  try {
    for (; measured < shapes.size() && (has_file || !standard_output_lost()); ++measured)
      measure_shape(request, machine, shapes[measured], told, rows);
  } catch (interrupted const&) {
    report_interrupt(measured, shapes.size());
  }
  auto figures = scaling_json(machine, request, rows);
  note_partial(figures, measured, shapes.size());
  if (json.wanted()) json.write(text_of(figures));
  if (page.wanted()) page.write(lab->report_page({{"machine", here}, {"scaling", figures}}));
  std::size_t wrong = 0;
  for (auto const& row : rows) wrong += row.wrong;
  finish(wrong);
}

}  // namespace coset::cli
