// SPDX-License-Identifier: Apache-2.0
// Points laid out in lines and columns, and as curves.
#include "lab/reproduce/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace coset::cli::reproduction {
namespace {

using nlohmann::ordered_json;

template <typename Value>
std::vector<Value> different(std::span<point const> all, Value point::*what) {
  std::vector<Value> found;
  for (point const& p : all)
    if (std::ranges::find(found, p.*what) == found.end()) found.push_back(p.*what);
  return found;
}

ordered_json json_of(point const& p) {
  ordered_json made{{"setting", p.setting}, {"curve", p.curve}, {"algorithm", p.algorithm},  {"ranks", p.ranks},
                    {"bytes", p.bytes},     {"value", p.value}, {"contention", p.contention}};
  if (p.simulated) made["simulated"] = *p.simulated;
  return made;
}

/// A line for each setting, number of ranks and size, a column for each curve; of one curve a column for each number of
/// ranks.
class grid {
 public:
  explicit grid(std::span<point const> all)
      : by_ranks_(different(all, &point::curve).size() == 1 && different(all, &point::ranks).size() > 1),
        has_settings_(different(all, &point::setting).size() > 1),
        has_contention_(std::ranges::any_of(all, [](point const& p) { return p.contention != 1; })),
        has_simulated_(std::ranges::any_of(all, [](point const& p) { return p.simulated.has_value(); })) {
    for (point const& p : all) {
      row const at{p.setting, by_ranks_ ? 0 : p.ranks, p.bytes};
      auto const column = by_ranks_ ? fmt::format("{} ranks", p.ranks) : p.curve;
      if (std::ranges::find(rows_, at) == rows_.end()) rows_.push_back(at);
      if (std::ranges::find(columns_, column) == columns_.end()) columns_.push_back(column);
      cells_[{at, column}] = &p;
    }
  }

  std::string text() const {
    cli::table told;
    if (has_settings_) told.with(as::words, {"setting"});
    if (!by_ranks_) told.with(as::numbers, {"ranks"});
    told.with(as::numbers, {"bytes"});
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      told.with({.digits = 3}, columns_[k], fmt::format("{}.value", k));
      if (has_contention_) told.with(as::ratio, "contention", fmt::format("{}.contention", k));
      if (has_simulated_) told.with({.digits = 3}, "simulated", fmt::format("{}.simulated", k));
    }
    for (row const& at : rows_) {
      auto const& [setting, ranks, bytes] = at;
      ordered_json line{{"setting", setting}, {"ranks", ranks}, {"bytes", bytes}};
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        auto const found = cells_.find({at, columns_[k]});
        auto& cell = line[fmt::format("{}", k)] = {{"value", {}}, {"contention", {}}, {"simulated", {}}};
        if (found != cells_.end()) cell.update(json_of(*found->second));
      }
      told.add(std::move(line));
    }
    return told.as_text();
  }

 private:
  using row = std::tuple<std::string, rank_t, std::uint64_t>;

  bool by_ranks_, has_settings_, has_contention_, has_simulated_;
  std::vector<row> rows_;
  std::vector<std::string> columns_;
  std::map<std::pair<row, std::string>, point const*> cells_;
};

}  // namespace

std::string as_text(figure const& of, std::span<point const> points) {
  return fmt::format("{} {}: {}\n{}\n{}", of.source, of.name, of.title, of.unit, grid(points).text());
}

table as_table(figure const& of, std::span<point const> points) {
  auto made = table().with(as::numbers, {"source", "figure", "setting", "curve", "algorithm", "ranks", "bytes", "value",
                                         "unit", "contention", "simulated"});
  for (point const& p : points) {
    auto row = json_of(p);
    row.update(ordered_json{{"source", of.source}, {"figure", of.name}, {"unit", of.unit}});
    made.add(std::move(row));
  }
  return made;
}

std::string as_json(figure const& of, std::span<point const> points) {
  ordered_json all = ordered_json::array();
  for (point const& p : points) all.push_back(json_of(p));
  return ordered_json{{"coset_figure", 1}, {"source", of.source}, {"figure", of.name},
                      {"title", of.title}, {"unit", of.unit},     {"points", std::move(all)}}
             .dump(1) +
         '\n';
}

picture picture_of(figure const& of, std::span<point const> points) {
  if (points.empty()) throw argument_error(fmt::format("{} {} has no curves to plot", of.source, of.name));
  bool const over_ranks = of.is_over_ranks;
  bool const has_settings = different(points, &point::setting).size() > 1;
  bool const has_others =
      over_ranks ? different(points, &point::bytes).size() > 1 : different(points, &point::ranks).size() > 1;
  picture drawn{fmt::format("{} {}: {}", of.source, of.name, of.title),
                over_ranks ? "ranks" : "bytes",
                fmt::format("{}, by the model", of.unit),
                !over_ranks,
                {}};
  auto const add = [&](std::string const& title, point const& p, double value) {
    auto found = std::ranges::find(drawn.curves, title, &picture::curve::title);
    if (found == drawn.curves.end()) found = drawn.curves.insert(found, {title, {}});
    found->points.emplace_back(over_ranks ? p.ranks : p.bytes, value);
  };
  for (point const& p : points) {
    std::string title = p.curve;
    if (has_others) title += over_ranks ? fmt::format(", {} bytes", p.bytes) : fmt::format(", {} ranks", p.ranks);
    if (has_settings) title += ", " + p.setting;
    add(title, p, p.value);
    if (p.simulated) add(title + ", simulated", p, *p.simulated);
  }
  return drawn;
}

}  // namespace coset::cli::reproduction
