// SPDX-License-Identifier: Apache-2.0
#include "lab/simulate/tables.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "command/bytes.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::array names_of_levels{"core", "l3", "node", "package", "machine"};
static_assert(names_of_levels.size() == cache::levels);

char const* name_of(cache::timing what) { return what == cache::timing::call ? "call" : "cycle"; }

constexpr look us{.unit = "us", .digits = 2, .scale = 1e6};

ordered_json json_of(contest_row const& row) {
  ordered_json lines;
  for (std::size_t l = 0; l < cache::levels; ++l) lines[names_of_levels[l]] = row.found.lines[l];
  lines["memory"] = row.found.memory_lines;
  ordered_json json{{"plan", row.name},          {"by", name_of(row.by)},          {"chosen", row.is_chosen},
                    {"seconds", row.found.last}, {"mean_seconds", row.found.mean}, {"model_seconds", nullptr},
                    {"acts", row.found.acts},    {"events", row.found.events},     {"lines", lines}};
  if (row.model_seconds) json["model_seconds"] = *row.model_seconds;
  return json;
}

}  // namespace

table all_plans() {
  auto made = table()
                  .with(as::words, {"topology"})
                  .with(as::bytes, {"size=bytes"})
                  .with(us, {"time=seconds"})
                  .with(as::ratio, {"ratio"})
                  .with(us, {"model=model_seconds"});
  for (std::string const level : names_of_levels) made.with(as::numbers, level, "lines." + level);
  return made.with(as::numbers, {"memory=lines.memory"}).with(as::words, {"by", "plan"});
}

void add(simulated_machine const& made, table& to) {
  for (simulated_contest const& one : made.sizes)
    for (contest_row const& each : one.rows) {
      auto row = json_of(each);
      row.update({{"topology", made.topology},
                  {"bytes", one.bytes},
                  {"ratio", each.found.last / one.rows.front().found.last}});
      to.add(std::move(row));
    }
}

std::string as_text(simulated_machine const& made, bool all) {
  auto told = table()
                  .with(as::bytes, {"size"})
                  .with(us, {"chosen", "flat", "barriers", "tree", "all fold", "fastest"})
                  .with(as::ratio, {"ratio"})
                  .with(as::words, {"plan"});
  auto const seconds = [](contest_row const* row) {
    return row == nullptr ? table::row() : table::row(row->found.last);
  };
  for (simulated_contest const& one : made.sizes) {
    contest_row const &fastest = one.rows.front(), &chosen = one.chosen();
    told.add({{"size", one.bytes},
              {"chosen", seconds(&chosen)},
              {"flat", seconds(one.best(offer::flat))},
              {"barriers", seconds(one.named(barriers_name))},
              {"tree", seconds(one.named(tree_name))},
              {"all fold", seconds(one.named(everything_name))},
              {"fastest", seconds(&fastest)},
              {"ratio", chosen.found.last / fastest.found.last},
              {"plan", chosen.name + (&chosen == &fastest ? "" : "; fastest: " + fastest.name)}});
  }
  auto const text = fmt::format("{} on {} ranks of {}, {}; {}\n", made.verb, made.request.asked.ranks, made.topology,
                                made.place, name_of(made.request.timing)) +
                    told.as_text();
  if (!all) return text;
  auto every = all_plans();
  add(made, every);
  return text + every.as_text();
}

ordered_json as_json(simulated_machine const& made) {
  ordered_json sizes = ordered_json::array(), costs;
  for (std::string const& name : cache::names_of_costs()) costs[name] = cache::get(made.request.costs, name);
  for (simulated_contest const& one : made.sizes) {
    ordered_json rows = ordered_json::array();
    for (contest_row const& row : one.rows) rows.push_back(json_of(row));
    sizes.push_back({{"bytes", one.bytes}, {"plans", rows}});
  }
  return {{"topology", made.topology},
          {"collective", made.verb},
          {"ranks", made.request.asked.ranks},
          {"place", made.place},
          {"timing", name_of(made.request.timing)},
          {"in_place", made.request.asked.in_place},
          {"costs", costs},
          {"sizes", sizes}};
}

}  // namespace coset::cli
