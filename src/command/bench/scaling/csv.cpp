// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "command/bench/scaling/told.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

void add_interval(ordered_json& row, ordered_json const& from, char const* key) {
  auto const at = from.find(key);
  if (at == from.end() || !at->is_object()) return;
  std::string const name = key;
  row[name] = (*at)["median"], row[name + "_low"] = (*at)["low"], row[name + "_high"] = (*at)["high"];
}

ordered_json flat(ordered_json const& run, char const* kind) {
  ordered_json row = run;
  row["kind"] = kind;
  for (auto const* const key : {"time_ns", "speedup", "efficiency"}) row.erase(key), add_interval(row, run, key);
  if (auto const at = run.find("beside"); at != run.end() && at->is_object()) {
    row.erase("beside");
    for (auto const* const key : {"read", "copy", "kernel", "handed_over"}) row[key] = (*at)[key];
  }
  if (auto const at = run.find("limit"); at != run.end()) {
    row["limit"] = (*at)["by"], row["limit_share"] = (*at)["share"], row["limit_words"] = (*at)["words"];
    row["data_in"] = (*at)["data_in"];
  }
  return row;
}

/// A row for each kind of stream: its rate stands where those of points do.
void add_streams(table& to, ordered_json const& stream) {
  for (auto const* const key : {"read", "copy", "triad", "fold", "fold_around"}) {
    ordered_json row{{"kind", "stream"},
                     {"place", stream["where"]},
                     {"ranks", stream["ranks"]},
                     {"pages", stream["pages"]},
                     {"size", stream["array_bytes"]},
                     {"verb", key},
                     {"moved", stream[key]["median"]}};
    row["moved_low"] = stream[key]["low"], row["moved_high"] = stream[key]["high"];
    to.add(std::move(row));
  }
}

}  // namespace

std::string scaling_csv(ordered_json const& file) {
  auto made = table().with(
      as::numbers,
      {"kind",     "place",       "ranks",       "beyond_cores", "pages",       "verb",           "size",
       "timing",   "state",       "rounds",      "time_ns",      "time_ns_low", "time_ns_high",   "algbw",
       "busbw",    "speedup",     "speedup_low", "speedup_high", "efficiency",  "efficiency_low", "efficiency_high",
       "moved",    "moved_low",   "moved_high",  "read",         "copy",        "kernel",         "handed_over",
       "flags_ns", "own_work_ns", "reached",     "limit",        "limit_share", "data_in",        "limit_words",
       "drift",    "outliers",    "wrong",       "run"});
  char const* const run = file.contains("partial") ? "partial" : "whole";
  for (auto const& stream : file.at("streams")) add_streams(made, stream);
  for (auto const& each : file.at("runs")) {
    auto row = flat(each, "point");
    row["run"] = run;
    made.add(std::move(row));
  }
  for (auto const& each : file.at("reducers")) {
    auto row = flat(each, "loop");
    row["verb"] = each["loop"], row["size"] = each["target_bytes"], row["run"] = run;
    made.add(std::move(row));
  }
  return made.as_csv();
}

}  // namespace coset::cli
