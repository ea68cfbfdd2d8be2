// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/beside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/bench/scaling/points.hpp"
#include "command/bench/scaling/spread.hpp"
#include "command/bench/scaling/told.hpp"
#include "command/table.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

std::string machine_of(ordered_json const& file) {
  return fmt::format("{}, {} cores, {}", file.at("processor").get<std::string>(), file.at("cores").get<int>(),
                     file.at("host").get<std::string>());
}

ordered_json const* same_point(ordered_json const& in, ordered_json const& run) {
  auto const key = key_of(run);
  auto const at = std::ranges::find_if(in, [&](auto const& other) { return key_of(other) == key; });
  return at == in.end() || at->at("rounds") == 0 ? nullptr : &*at;
}

ordered_json point(ordered_json const& ours, ordered_json const& theirs) {
  auto const faster = ratio_of(theirs.at("rounds_ns"), ours.at("rounds_ns"));
  return {{"place", ours.at("place")},
          {"ranks", ours.at("ranks")},
          {"verb", ours.at("verb")},
          {"size", ours.at("size")},
          {"timing", ours.at("timing")},
          {"ours_ns", ours.at("time_ns").at("median")},
          {"theirs_ns", theirs.at("time_ns").at("median")},
          {"times_faster", {{"median", faster.median}, {"low", faster.low}, {"high", faster.high}}},
          {"our_limit", limit_told(ours)},
          {"their_limit", limit_told(theirs)}};
}

}  // namespace

ordered_json laid_beside(ordered_json const& ours, ordered_json const& theirs) {
  auto points = ordered_json::array(), streams = ordered_json::array();
  for (auto const& run : ours.at("runs")) {
    if (run.at("rounds") == 0) continue;
    if (auto const* const other = same_point(theirs.at("runs"), run)) points.push_back(point(run, *other));
  }
  for (auto const& stream : ours.at("streams"))
    for (auto const& other : theirs.at("streams"))
      if (stream.at("where") == other.at("where") && stream.at("pages") == other.at("pages"))
        for (auto const* const what : {"read", "copy", "triad", "fold", "fold_around"})
          streams.push_back({{"where", stream.at("where")},
                             {"pages", stream.at("pages")},
                             {"stream", what},
                             {"ours", stream.at(what).at("median")},
                             {"theirs", other.at(what).at("median")}});
  return {{"ours", machine_of(ours)}, {"theirs", machine_of(theirs)}, {"points", points}, {"streams", streams}};
}

std::string beside_told(ordered_json const& laid) {
  auto points = table()
                    .with(as::words, {"place"})
                    .with(as::numbers, {"ranks"})
                    .with(as::words, {"verb"})
                    .with(as::bytes, {"size"})
                    .with(as::words, {"timing"})
                    .with(as::time, {"here=ours_ns", "there=theirs_ns"})
                    .with(as::words, {"times faster here=faster", "limited here by=our_limit", "there by=their_limit"});
  for (auto row : laid.at("points")) {
    row["faster"] = interval_told(row, "times_faster");
    points.add(std::move(row));
  }
  auto streams =
      table().with(as::words, {"GB/s of=where", "pages", "stream"}).with({.digits = 1}, {"here=ours", "there=theirs"});
  for (auto const& row : laid.at("streams")) streams.add(row);
  auto text = fmt::format("\nBeside each other\n  here:  {}\n  there: {}\n", laid.at("ours").get<std::string>(),
                          laid.at("theirs").get<std::string>());
  if (points.rows().empty()) return text + "  no point was measured on both\n";
  return text + points.as_text() + "\n" + streams.as_text();
}

}  // namespace coset::cli
