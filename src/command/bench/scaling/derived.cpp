// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/derived.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command/bench/scaling/limits.hpp"
#include "command/bench/scaling/spread.hpp"
#include "command/bench/scaling/volume.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

bool was_measured(ordered_json const& run) { return run.value("rounds", 0) > 0; }

ordered_json json_of(interval const& of, double factor) {
  return {{"median", factor * of.median}, {"low", factor * of.low}, {"high", factor * of.high}};
}

/// The same on one rank; null if it was not measured.
ordered_json const* base_of(ordered_json const& file, ordered_json const& run,
                            std::initializer_list<char const*> same) {
  for (auto const& other : file)
    if (was_measured(other) && other.at("ranks") == 1 &&
        std::ranges::all_of(same, [&](char const* key) { return other.at(key) == run.at(key); }))
      return &other;
  return nullptr;
}

/// Of arrays of each rank, the work grows with the ranks; of one loop that they share it stays.
void add_speedup(ordered_json& run, ordered_json const* base, bool grows) {
  if (base == nullptr) return;
  auto const found = ratio_of(base->at("rounds_ns"), run["rounds_ns"]);
  double const ranks = run["ranks"];
  run["speedup"] = json_of(found, grows ? ranks : 1);
  run["efficiency"] = json_of(found, grows ? 1 : 1 / ranks);
}

void add_steadiness(ordered_json& run) {
  auto const found = steadiness_of(run["rounds_ns"]);
  run["drift"] = found.drift;
  run["drifts"] = found.drifts();
  run["outliers"] = found.outliers;
}

double value_of(ordered_json const& of, char const* key) {
  auto const at = of.find(key);
  return at != of.end() && at->is_number() ? at->get<double>() : 0;
}

/// ns, at a rate in GB/s.
double time_at(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

/// Of the slowest link among these nodes; 0 if they are not several.
double slowest_link(ordered_json const& file, std::vector<unsigned> const& nodes) {
  auto const between = file.value("between_nodes", ordered_json());
  if (nodes.size() < 2 || !between.is_object()) return 0;
  std::vector<unsigned> const names = between["nodes"];
  auto const takes_part = [&](std::size_t at) { return std::ranges::find(nodes, names[at]) != nodes.end(); };
  double least = 0;
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = 0; b < names.size(); ++b) {
      if (a == b || !takes_part(a) || !takes_part(b) || !between["read"][a][b].is_number()) continue;
      double const rate = between["read"][a][b];
      least = least == 0 ? rate : std::min(least, rate);
    }
  return least;
}

/// GB/s of folds in memory by as many ranks as a stream has on these nodes; 0 if none has.
double rate_of_memory(ordered_json const& file, ordered_json const& run) {
  std::vector<unsigned> const nodes = run["on_nodes"];
  auto const where = run["ranks"] == 1  ? "one core"
                     : nodes.size() > 1 ? std::string("all nodes")
                                        : fmt::format("node {}", nodes.at(0));
  for (auto const& stream : file.at("streams"))
    if (stream.at("where") == where && stream.at("ranks") == run["ranks"])
      return std::max(stream.at("fold").at("median").get<double>(),
                      stream.at("fold_around").at("median").get<double>());
  return 0;
}

/// By the sizes of caches, unless a shared cache is no faster than memory: of one that a virtual machine names, it has a part.
level level_of_run(ordered_json const& file, ordered_json const& run) {
  auto const& machine = file.at("machine");
  cache_sizes const sizes{value_of(machine, "own_cache_bytes"), value_of(machine, "shared_cache_bytes")};
  auto const found = level_of(2 * run["size"].get<double>(), run["ranks_of_cache"], sizes);
  double const memory = rate_of_memory(file, run), here = value_of(run["beside"], "kernel");
  return found == level::shared_cache && here < 1.2 * memory ? level::memory : found;
}

limit_parts parts_of(ordered_json const& file, ordered_json const& run) {
  auto const& beside = run["beside"];
  double const ranks = run["ranks"], bytes = run["size"];
  bool const cycles = run["timing"] == "cycle";
  verb const what = verb_named(run["verb"].get<std::string>());
  std::vector<unsigned> const nodes = run["on_nodes"];
  double const received = vectors_between(what, run["ranks"]) * bytes,
               crossing = vectors_between(what, static_cast<rank_t>(nodes.size())) * bytes;
  return {.time = run["time_ns"]["median"],
          .flags = value_of(run, "flags_ns"),
          .own_work = cycles ? value_of(run, "own_work_ns") : 0,
          .moving = time_at(run["call_bytes"], value_of(beside, "kernel")),
          .handing_over = time_at(received, value_of(beside, "handed_over") / ranks),
          .between_nodes = time_at(crossing, slowest_link(file, nodes)),
          .where = level_of_run(file, run),
          .share_processors = run["beyond_cores"] == "turns"};
}

std::string nodes_in_words(std::vector<unsigned> const& nodes) {
  return fmt::format("node{} {}", nodes.size() > 1 ? "s" : "", fmt::join(nodes, ", "));
}

/// Whether a point is one of another situation than its place says: other programs had its cores, or its pages lie elsewhere.
void add_disturbances(ordered_json& run) {
  constexpr double most_of_others = 0.15, least_at_home = 0.99;
  run["disturbed"] = value_of(run, "others_share") > most_of_others;
  run["has_strays"] =
      run.contains("pages_at_home") && run["pages_at_home"].is_number() && run["pages_at_home"] < least_at_home;
}

void add_limit(ordered_json const& file, ordered_json& run) {
  if (!run["beside"].is_object()) return;
  auto const parts = parts_of(file, run);
  auto const found = limit_of(parts, nodes_in_words(run["on_nodes"]));
  double const moved = run["moved_bytes"];
  run["moved"] = moved / parts.time;
  run["reached"] = time_at(moved, value_of(run["beside"], "kernel")) / parts.time;
  run["limit"] = {{"by", name_of(found.by)},
                  {"share", found.share},
                  {"words", found.words},
                  {"data_in", name_of(parts.where)},
                  {"parts_ns",
                   {{"flags", parts.flags},
                    {"own_work", parts.own_work},
                    {"moving", parts.moving},
                    {"handing_over", parts.handing_over},
                    {"between_nodes", parts.between_nodes}}}};
}

}  // namespace

void derive(ordered_json const& file, ordered_json& run) {
  if (!was_measured(run)) return;
  add_speedup(run, base_of(file.at("runs"), run, {"verb", "asked_size", "timing"}), true);
  add_steadiness(run);
  add_disturbances(run);
  add_limit(file, run);
}

void derive_all(ordered_json& file) {
  auto const as_it_is = file;
  for (auto& run : file.at("runs")) derive(as_it_is, run);
  for (auto& run : file.at("reducers")) {
    if (!was_measured(run)) continue;
    add_speedup(run, base_of(as_it_is.at("reducers"), run, {"loop"}), false);
    add_steadiness(run);
  }
}

}  // namespace coset::cli
