// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/told.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/bench/scaling/limits.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

std::string rounded(double value) { return fmt::format("{:.{}f}", value, value < 10 ? 2 : 1); }

/// "node 0 75 %, node 1 25 %": of {"0": 3, "1": 1}.
std::string pages_told(ordered_json const& pages_on) {
  double all = 0;
  for (auto const& count : pages_on) all += count.get<double>();
  std::vector<std::string> parts;
  for (auto const& [node, count] : pages_on.items())
    parts.push_back(pages_on.size() == 1 ? "node " + node
                                         : fmt::format("node {} {:.0f} %", node, 100 * count.get<double>() / all));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "drifts 1.3×, 2 outliers", and pages of arrays that are not on their rank's node.
std::string unsteadiness(ordered_json const& run) {
  std::vector<std::string> notes;
  if (run.value("has_strays", false))
    notes.push_back(fmt::format("{:.0f} % of pages elsewhere", 100 * (1 - run["pages_at_home"].get<double>())));
  if (run.value("disturbed", false))
    notes.push_back(fmt::format("others had {:.0f} % of the cores", 100 * run["others_share"].get<double>()));
  if (run.value("drifts", false)) notes.push_back(fmt::format("drifts {:.2f}×", run["drift"].get<double>()));
  if (auto const outliers = run.value("outliers", 0); outliers > 0)
    notes.push_back(fmt::format("{} outlier{}", outliers, outliers > 1 ? "s" : ""));
  if (auto const dropped = run.value("dropped_rounds", 0); dropped > 0)
    notes.push_back(fmt::format("{} dropped", dropped));
  return fmt::format("{}", fmt::join(notes, ", "));
}

/// "8+" are ranks beyond the cores.
std::string ranks_of(ordered_json const& run) {
  auto const beyond = run.value("beyond_cores", "");
  return fmt::format("{}{}", run["ranks"].get<int>(), beyond == "turns" ? "++" : beyond == "threads" ? "+" : "");
}

ordered_json line_of(ordered_json const& run) {
  ordered_json line{{"place", run["place"]},     {"marked", ranks_of(run)}, {"verb", run["verb"]},
                    {"size", run["size"]},       {"timing", run["timing"]}, {"speedup", interval_told(run, "speedup")},
                    {"notes", unsteadiness(run)}};
  if (run["rounds"] == 0) {
    line["limit"] = "no round without a change of the machine's state";
    return line;
  }
  line["time"] = run["time_ns"]["median"];
  line["busbw"] = run["busbw"];
  line["efficiency"] = run.contains("efficiency") ? interval_told(run, "efficiency") : "";
  if (run.contains("limit")) {
    line["limit"] = fmt::format("{}, {:.0f} %", limit_told(run), 100 * run["limit"]["share"].get<double>());
    line["reached"] = run["reached"];
  }
  return line;
}

table matrix_told(std::string const& title, ordered_json const& between, char const* key) {
  auto made = table().with(as::words, {title + "=of"});
  for (auto const& node : between["nodes"])
    made.with({.digits = 1}, fmt::format("node {}", node.get<unsigned>()), fmt::format("n{}", node.get<unsigned>()));
  for (std::size_t a = 0; a < between["nodes"].size(); ++a) {
    ordered_json row{{"of", fmt::format("node {}", between["nodes"][a].get<unsigned>())}};
    for (std::size_t b = 0; b < between["nodes"].size(); ++b)
      row[fmt::format("n{}", between["nodes"][b].get<unsigned>())] = between[key][a][b];
    made.add(std::move(row));
  }
  return made;
}

}  // namespace

std::string interval_told(ordered_json const& run, char const* key) {
  if (!run.contains(key)) return "";
  auto const& of = run[key];
  return fmt::format("{} [{}, {}]", rounded(of["median"]), rounded(of["low"]), rounded(of["high"]));
}

std::string limit_told(ordered_json const& run) {
  if (!run.contains("limit")) return "";
  std::string const words = run["limit"]["words"];
  return words.substr(0, words.find(':'));
}

std::string scaling_heads(topology const& machine, scaling_request const& request) {
  return fmt::format(
      "# coset bench --scaling of {}, sum: {} cores, {} {}, {}; {} rounds\n"
      "# cycle: each rank writes an array of its own, all call the verb, each reads its result; call: the verb alone\n"
      "# speed-up: ranks times the time of one rank / the time; efficiency: speed-up / ranks\n"
      "# roof: what the bytes that nobody can avoid would take, moved by folds that wait for nobody, as part of the "
      "time; above 1 where those folds had their arrays farther away\n"
      "# busbw in GB/s. 4+: second hardware threads, 4++: ranks in turns. Intervals: 95 %\n",
      measure::name_of(request.element), machine.cores(), machine.nodes.size(),
      machine.nodes.size() == 1 ? "node" : "nodes", instruction_set_in_words(kernels::instruction_set()),
      request.options.rounds);
}

table scaling_table(scaling_request const& request, std::vector<scaling_shape> const& shapes) {
  auto made = table()
                  .with(as::words, {"place"})
                  .with(as::numbers, {"ranks=marked"})
                  .with(as::words, {"verb"})
                  .with(as::bytes, {"size"})
                  .with(as::words, {"timing"})
                  .with(as::time, {"time"})
                  .with(as::ratio, {"busbw"})
                  .with(as::words, {"speed-up=speedup", "efficiency"})
                  .with(as::ratio, {"roof=reached"})
                  .with(as::words, {"limited by=limit", "notes"});
  table::row row{{"timing", "cycle"},
                 {"speedup", "10.10 [10.1, 10.1]"},
                 {"efficiency", "0.99 [0.99, 0.99]"},
                 {"busbw", 100.0},
                 {"time", 100.1e6},
                 {"reached", 1.0},
                 {"limit", "bandwidth of the cores' own caches, 100 %"},
                 {"notes", "2 outliers"}};
  for (auto const& shape : shapes)
    for (verb const what : request.verbs)
      for (auto const bytes : request.sizes) {
        row.update({{"place", shape.place},
                    {"marked", std::to_string(shape.places.size()) + "+"},
                    {"verb", name_of(what)},
                    {"size", bytes}});
        made.make_room(row);
      }
  return made;
}

std::string scaling_line(ordered_json const& run, table const& like) { return like.line(line_of(run)); }

std::string streams_told(ordered_json const& file) {
  auto made = table()
                  .with(as::words, {"GB/s of=where"})
                  .with(as::numbers, {"ranks"})
                  .with(as::words, {"pages", "which are on=on"})
                  .with(as::bytes, {"arrays=array_bytes"})
                  .with({.digits = 1}, {"read=read.median", "copy=copy.median", "triad=triad.median",
                                        "fold=fold.median", "past caches=fold_around.median"});
  for (auto row : file.at("streams")) {
    row["on"] = pages_told(row.value("pages_on", ordered_json::object()));
    made.add(std::move(row));
  }
  auto text = "\nWhat the machine moves by itself\n" + made.as_text();
  auto const& between = file.at("between_nodes");
  if (between["nodes"].size() < 2) return text;
  return text + "\n" + matrix_told("reads of the memory of, GB/s", between, "read").as_text() + "\n" +
         matrix_told("one way between cores of, ns", between, "latency_ns").as_text();
}

std::string reducers_told(ordered_json const& file) {
  auto made = table()
                  .with(as::words, {"loop"})
                  .with(as::numbers, {"ranks"})
                  .with(as::numbers, {"updates"})
                  .with(as::bytes, {"target=target_bytes"})
                  .with(as::time, {"time=time_ns.median"})
                  .with(as::words, {"speed-up=speedup_told", "efficiency=efficiency_told", "=notes"});
  for (auto row : file.value("reducers", ordered_json::array())) {
    row["speedup_told"] = interval_told(row, "speedup");
    row["efficiency_told"] = interval_told(row, "efficiency");
    row["notes"] = unsteadiness(row);
    made.add(std::move(row));
  }
  return made.rows().empty()
             ? ""
             : "\nReducers: one loop for all ranks, against the plain loop of one thread\n" + made.as_text();
}

std::string scaling_summary(ordered_json const& file) {
  std::size_t most = 0, drifting = 0, disturbed = 0;
  for (auto const& run : file.at("runs")) {
    disturbed += run.value("disturbed", false) ? 1 : 0;
    drifting += run.value("drifts", false) ? 1 : 0;
    if (run["place"] == "compact" && run.value("beyond_cores", "").empty())
      most = std::max(most, run["ranks"].get<std::size_t>());
  }
  std::string text;
  bool is_unexplained = false;
  for (auto const& run : file.at("runs"))
    if (run["place"] == "compact" && run["ranks"] == most && run.contains("limit") &&
        run["verb"] == file.at("runs")[0]["verb"] && run["timing"] == "cycle") {
      is_unexplained = is_unexplained || run["limit"]["by"] == name_of(limit::other);
      text += fmt::format("  {} of {}: {}\n", run["verb"].get<std::string>(), bytes_for_people(run["size"]),
                          run["limit"]["words"].get<std::string>());
    }
  if (is_unexplained)
    text += "  what is left over: coset why VERB SIZE --measure compares plans; COSET_TRACE shows where ranks wait\n";
  if (!text.empty()) text = fmt::format("\nWhat limits it on {} cores\n", most) + text;
  if (disturbed > 0)
    text += fmt::format("{} of {} points shared their cores with other programs: measure again when it is quiet\n",
                        disturbed, file.at("runs").size());
  if (drifting > 0)
    text += fmt::format("{} of {} points drifted while they were measured\n", drifting, file.at("runs").size());
  return text;
}

}  // namespace coset::cli
