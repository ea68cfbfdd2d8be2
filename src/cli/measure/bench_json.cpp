// SPDX-License-Identifier: Apache-2.0
// `coset bench --json`.
#include <nlohmann/json.hpp>

#include "cli/interruption.hpp"
#include "cli/measure/bench_report.hpp"
#include "kernels/kernels.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

ordered_json row_json(measure::row const& r, std::vector<double> const& rounds) {
  ordered_json json{{"who", r.player->name()},
                    {"family", r.player->family()},
                    {"median_ns", r.time.median},
                    {"min_ns", r.time.minimum},
                    {"p99_ns", r.time.p99},
                    {"samples", r.time.samples},
                    {"algbw", r.algorithm_bandwidth},
                    {"busbw", r.bus_bandwidth},
                    {"wrong", r.wrong},
                    {"rounds_ns", rounds}};
  if (auto const& c = r.against_coset) {
    json["ratio"] = {
        {"median", c->ratio}, {"low", c->low}, {"high", c->high}, {"verdict", measure::name_of(c->verdict)}};
  }
  return json;
}

ordered_json state_json(measure::measurement const& m, measure::state_figures const& state,
                        std::vector<measure::contestant*> const& players) {
  ordered_json rows = ordered_json::array();
  auto const found = rows_of(m, state, players);
  for (auto const& r : found) {
    auto const at = static_cast<std::size_t>(std::find(players.begin(), players.end(), r.player) - players.begin());
    rows.push_back(row_json(r, state.of[at].rounds));
  }
  auto const& least = least_of(found);
  return {{"state", state.state},
          {"rounds", state.rounds},
          {"one_way_ns", state.one_way},
          {"least", {{"who", least.player->name()}, {"median_ns", least.time.median}}},
          {"rows", rows}};
}

ordered_json size_json(measure::measurement const& m, std::vector<measure::contestant*> const& players) {
  ordered_json declined = ordered_json::object(), states = ordered_json::array();
  for (std::size_t i = 0; i < players.size(); ++i) {
    if (!m.declined[i].empty()) declined[players[i]->name()] = m.declined[i];
  }
  for (auto const& state : m.states) states.push_back(state_json(m, state, players));
  return {{"size", m.shape.bytes()},
          {"count", m.shape.count},
          {"type", measure::name_of(m.shape.element)},
          {"op", measure::name_of(m.shape.operation)},
          {"dropped_rounds", m.dropped},
          {"declined", declined},
          {"states", states}};
}

}  // namespace

ordered_json bench_json(bench_setting const& s, std::vector<measure::measurement> const& all,
                        std::vector<measure::contestant*> const& players) {
  ordered_json sizes = ordered_json::array();
  for (auto const& m : all) sizes.push_back(size_json(m, players));
  return {{"coset_bench", 1},
          {"verb", s.verb},
          {"ranks", s.ranks},
          {"processors", s.processors},
          {"instruction_set", kernels::instruction_set()},
          {"timing", s.options.timing == measure::timing::cycle ? "cycle" : "call"},
          {"sizes", sizes}};
}

std::string text_of(ordered_json json) {
  if (interrupted_status() != 0) json["interrupted"] = true;
  return json.dump(1) + '\n';
}

}  // namespace coset::cli
