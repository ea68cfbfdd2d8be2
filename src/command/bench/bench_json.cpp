// SPDX-License-Identifier: Apache-2.0
// `coset bench --json` and `--csv`.
#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command/bench/bench_output.hpp"
#include "command/bench/facts.hpp"
#include "command/bench/words.hpp"
#include "command/interruption.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

ordered_json row_json(measure::row const& r) {
  return {
      {"who", r.player->name()},    {"family", r.player->family()},   {"median_ns", r.time.median},
      {"min_ns", r.time.minimum},   {"p99_ns", r.time.p99},           {"samples", r.time.samples},
      {"iterations", r.iterations}, {"algbw", r.algorithm_bandwidth}, {"busbw", r.bus_bandwidth},
      {"wrong", r.wrong},
  };
}

void add_rounds(measure::row const& r, std::vector<double> const& rounds, ordered_json& json) {
  json["rounds_ns"] = rounds;
  if (auto const& c = r.against_coset) {
    auto const found = advantage_of(*c);
    json["times_faster"] = {
        {"median", found.median}, {"low", found.low}, {"high", found.high}, {"verdict", measure::name_of(c->verdict)}};
  }
}

ordered_json state_json(measure::measurement const& m, measure::state_figures const& state,
                        std::vector<measure::contestant*> const& players) {
  ordered_json rows = ordered_json::array();
  auto const found = rows_of(m, state, players);
  for (auto const& r : found) {
    auto const at = static_cast<std::size_t>(std::find(players.begin(), players.end(), r.player) - players.begin());
    rows.push_back(row_json(r));
    add_rounds(r, state.of[at].rounds, rows.back());
  }
  auto const& least = least_of(found);
  auto const* const best = best_rival(found, m.shape.what);
  return {{"state", state.state},
          {"rounds", state.rounds},
          {"one_way_ns", state.one_way},
          {"best_rival", best == nullptr ? ordered_json() : ordered_json(best->player->name())},
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

ordered_json bench_json(bench_results const& r) {
  bench_setting const& s = r.setting;
  ordered_json json{{"coset_bench", 2}}, sizes = ordered_json::array();
  json.update(run_facts());
  json.update(
      {{"units",
        {{"size", "B"}, {"times", "ns"}, {"bandwidths", "GB/s"}, {"times_faster", "the other's time / coset's"}}},
       {"verb", s.verb},
       {"ranks", s.ranks},
       {"processors", s.processors},
       {"timing", name_of(s.options.timing)},
       {"rounds", s.options.rounds}});
  for (auto const& m : r.sizes) sizes.push_back(size_json(m, r.players));
  json["sizes"] = sizes;
  note_partial(json, r.sizes.size(), r.asked);
  return json;
}

ordered_json bench_row(bench_results const& of, measure::measurement const& m, measure::state_figures const& state,
                       measure::row const& r) {
  auto json = row_json(r);
  json.update({{"size", m.shape.bytes()},
               {"count", m.shape.count},
               {"type", measure::name_of(m.shape.element)},
               {"op", measure::name_of(m.shape.operation)},
               {"verb", of.setting.verb},
               {"ranks", of.setting.ranks},
               {"timing", name_of(of.setting.options.timing)},
               {"state", state.state},
               {"rounds", state.rounds},
               {"run", of.is_partial() ? "partial" : "whole"}});
  if (!r.against_coset) return json;
  auto const found = advantage_of(*r.against_coset);
  json.update({{"times_faster", found.median},
               {"low", found.low},
               {"high", found.high},
               {"verdict", measure::name_of(r.against_coset->verdict)}});
  return json;
}

std::string bench_csv(bench_results const& r) {
  auto made = table().with(as::numbers,
                           {"size",   "count", "type",         "op",         "verb",      "ranks",   "timing", "who",
                            "family", "state", "rounds",       "iterations", "median_ns", "min_ns",  "p99_ns", "algbw",
                            "busbw",  "wrong", "times_faster", "low",        "high",      "verdict", "run"});
  for (auto const& m : r.sizes)
    for (auto const& state : m.states)
      for (auto const& row : rows_of(m, state, r.players)) made.add(bench_row(r, m, state, row));
  return made.as_csv();
}

void note_partial(ordered_json& json, std::size_t measured, std::size_t asked) {
  if (measured < asked) json["partial"] = {{"measured", measured}, {"asked", asked}};
}

std::string text_of(ordered_json json) {
  if (interrupted_status() != 0) json["interrupted"] = true;
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';  // variables may be any bytes
}

}  // namespace coset::cli
