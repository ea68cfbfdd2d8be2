// SPDX-License-Identifier: Apache-2.0
// `coset bench --json` and `--csv`.
#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command/bench/bench_output.hpp"
#include "command/bench/facts.hpp"
#include "command/interruption.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

ordered_json row_json(measure::row const& r, std::vector<double> const& rounds) {
  ordered_json json{{"who", r.player->name()},    {"family", r.player->family()},
                    {"median_ns", r.time.median}, {"min_ns", r.time.minimum},
                    {"p99_ns", r.time.p99},       {"samples", r.time.samples},
                    {"iterations", r.iterations}, {"algbw", r.algorithm_bandwidth},
                    {"busbw", r.bus_bandwidth},   {"wrong", r.wrong},
                    {"rounds_ns", rounds}};
  if (auto const& c = r.against_coset) {
    auto const found = advantage_of(*c);
    json["times_faster"] = {
        {"median", found.median}, {"low", found.low}, {"high", found.high}, {"verdict", measure::name_of(c->verdict)}};
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

/// A name may hold a file's, and so quotes.
std::string quoted(std::string const& text) {
  std::string cell = "\"";
  for (char const c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + '"';
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
       {"timing", s.options.timing == measure::timing::cycle ? "cycle" : "call"},
       {"rounds", s.options.rounds}});
  for (auto const& m : r.sizes) sizes.push_back(size_json(m, r.players));
  json["sizes"] = sizes;
  note_partial(json, r.sizes.size(), r.asked);
  return json;
}

std::string bench_csv(bench_results const& r) {
  std::string text =
      "size,count,type,op,verb,ranks,timing,who,family,state,rounds,iterations,median_ns,min_ns,p99_ns,algbw,busbw,"
      "wrong,"
      "times_faster,low,high,verdict,run\n";
  for (auto const& m : r.sizes) {
    for (auto const& state : m.states) {
      for (auto const& row : rows_of(m, state, r.players)) {
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},\"{}\",{},{},{},{},{},{},{},{},", m.shape.bytes(), m.shape.count,
            measure::name_of(m.shape.element), measure::name_of(m.shape.operation), r.setting.verb, r.setting.ranks,
            r.setting.options.timing == measure::timing::cycle ? "cycle" : "call", quoted(row.player->name()),
            row.player->family(), state.state, state.rounds, row.iterations, row.time.median, row.time.minimum,
            row.time.p99, row.algorithm_bandwidth, row.bus_bandwidth, row.wrong);
        if (row.against_coset) {
          auto const found = advantage_of(*row.against_coset);
          text += fmt::format("{},{},{},{}", found.median, found.low, found.high,
                              measure::name_of(row.against_coset->verdict));
        } else {
          text += ",,,";
        }
        text += r.is_partial() ? ",partial\n" : ",whole\n";
      }
    }
  }
  return text;
}

void note_partial(ordered_json& json, std::size_t measured, std::size_t asked) {
  if (measured < asked) json["partial"] = {{"measured", measured}, {"asked", asked}};
}

std::string text_of(ordered_json json) {
  if (interrupted_status() != 0) json["interrupted"] = true;
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';  // variables may be any bytes
}

}  // namespace coset::cli
