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

std::string microseconds(contest_row const* row) {
  return row == nullptr ? fmt::format("  {:>10}", "-") : fmt::format("  {:>10.2f}", row->found.last * 1e6);
}

std::string line_of(simulated_contest const& one) {
  contest_row const& fastest = one.rows.front();
  contest_row const& chosen = one.chosen();
  std::string text = fmt::format("{:>8}", bytes_for_people(one.bytes));
  for (contest_row const* const row : {&chosen, one.best(offer::flat), one.named(barriers_name), one.named(tree_name),
                                       one.named(everything_name), &fastest})
    text += microseconds(row);
  text += fmt::format("  {:>6.2f}  {}", chosen.found.last / fastest.found.last, chosen.name);
  return text + (&chosen == &fastest ? "" : fmt::format("; fastest: {}", fastest.name)) + '\n';
}

std::string lines_of_all(simulated_contest const& one) {
  std::string text = fmt::format("{}\n  {:>10}  {:>6}  {:>10}", bytes_for_people(one.bytes), "us", "ratio", "model us");
  for (char const* const level : names_of_levels) text += fmt::format("  {:>9}", level);
  text += fmt::format("  {:>9}  {:<10}  plan\n", "memory", "by");
  for (contest_row const& row : one.rows) {
    text += fmt::format("{}  {:>6.2f}", microseconds(&row), row.found.last / one.rows.front().found.last);
    text += row.model_seconds ? fmt::format("  {:>10.2f}", *row.model_seconds * 1e6) : fmt::format("  {:>10}", "-");
    for (auto const lines : row.found.lines) text += fmt::format("  {:>9}", lines);
    text += fmt::format("  {:>9}  {:<10}  {}\n", row.found.memory_lines, name_of(row.by), row.name);
  }
  return text;
}

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

std::string as_text(simulated_machine const& made, bool all) {
  std::string text = fmt::format("{} on {} ranks of {}, {}; {}, microseconds\n", made.verb, made.request.asked.ranks,
                                 made.topology, made.place, name_of(made.request.timing));
  text += fmt::format("{:>8}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>6}  plan\n", "size", "chosen", "flat",
                      "barriers", "tree", "all fold", "fastest", "ratio");
  for (simulated_contest const& one : made.sizes) text += line_of(one);
  for (simulated_contest const& one : made.sizes)
    if (all) text += lines_of_all(one);
  return text;
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
