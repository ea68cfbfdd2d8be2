// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "command/bench/bench_output.hpp"
#include "command/bench/scaling/machine_streams.hpp"
#include "command/bench/scaling/spread.hpp"
#include "command/bench/scaling/volume.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "command/interruption.hpp"
#include "command/measure/harness/rows.hpp"
#include "command/measure/machine/others.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

/// The references' order among the players: each has its place wherever it is played.
enum reference : std::size_t { own_work, flags, reading, copying, plain_kernel, streaming_kernel, handing };

/// Those of the ranks of one shape, which live as long as it is measured.
class shape_players {
 public:
  explicit shape_players(std::vector<unsigned> const& processors) {
    owned_.push_back(measure::make_coset(processors));
    owned_.push_back(measure::make_own_work(processors));
    owned_.push_back(measure::make_flag_round(processors));
    owned_.push_back(measure::make_reading(processors));
    owned_.push_back(measure::make_copying(processors));
    owned_.push_back(measure::make_folding(processors, false));
    owned_.push_back(measure::make_folding(processors, true));
    owned_.push_back(measure::make_handing(processors));
  }

  std::vector<measure::contestant*> references() const { return first(1, owned_.size()); }
  /// In the same rounds, since flags of a busy machine are a hundred times slower for seconds.
  std::vector<measure::contestant*> verb_and_waits() const { return first(0, 3); }

 private:
  std::vector<measure::contestant*> first(std::size_t begin, std::size_t end) const {
    std::vector<measure::contestant*> some;
    for (std::size_t i = begin; i < end; ++i) some.push_back(owned_[i].get());
    return some;
  }
  measure::contestants owned_;
};

/// GB/s of each rank that moves `bytes`; empty of who declined.
std::vector<double> by_rank(measure::figures const& of, double bytes) {
  std::vector<double> found;
  for (std::size_t rank = 0; !of.by_rank.empty() && rank < of.by_rank.front().size(); ++rank) {
    std::vector<double> times;
    for (auto const& round : of.by_rank) times.push_back(round[rank]);
    found.push_back(bytes / measure::median(times));
  }
  return found;
}

double sum(std::vector<double> const& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

/// By the operating system's index of their nodes.
ordered_json by_node(topology const& machine, scaling_shape const& shape, std::vector<double> const& read,
                     std::vector<double> const& copy, std::vector<double> const& kernel) {
  std::map<unsigned, ordered_json> nodes;
  for (std::size_t r = 0; r < shape.places.size(); ++r) {
    unsigned const node = machine.nodes[shape.places[r].node].os_index;
    auto& of = nodes.try_emplace(node, ordered_json{{"node", node}, {"read", 0.0}, {"copy", 0.0}, {"kernel", 0.0}})
                   .first->second;
    of["read"] = of["read"].get<double>() + read[r];
    of["copy"] = of["copy"].get<double>() + copy[r];
    of["kernel"] = of["kernel"].get<double>() + kernel[r];
  }
  auto all = ordered_json::array();
  for (auto& [node, of] : nodes) all.push_back(std::move(of));
  return all;
}

ordered_json references_json(topology const& machine, scaling_shape const& shape, measure::measurement const& found) {
  if (found.states.empty()) return nullptr;
  auto const& of = found.states.front().of;
  double const once = static_cast<double>(found.shape.bytes());
  auto const plain = by_rank(of[plain_kernel], 2 * once), streaming = by_rank(of[streaming_kernel], 2 * once);
  bool const streams = sum(streaming) > sum(plain);
  auto const& kernel = streams ? streaming : plain;
  auto const read = by_rank(of[reading], once), copy = by_rank(of[copying], 2 * once),
             handed = by_rank(of[handing], once);
  bool const waits = shape.places.size() > 1;
  return {{"read", sum(read)},
          {"copy", sum(copy)},
          {"kernel", sum(kernel)},
          {"kernel_stores", streams ? "streaming" : "plain"},
          {"handed_over", handed.empty() ? ordered_json() : ordered_json(sum(handed))},
          {"flags_ns", waits ? measure::median(of[flags].rounds) : 0},
          {"own_work_ns", measure::median(of[own_work].rounds)},
          {"nodes", by_node(machine, shape, read, copy, kernel)}};
}

ordered_json processors_json(scaling_shape const& shape) {
  auto all = ordered_json::array();
  for (processor const& p : shape.places) all.push_back(p.os_index);
  return all;
}

/// Ranks beyond the cores: on second hardware threads, or in turn.
char const* beyond_cores(scaling_shape const& shape) {
  std::set<unsigned> cores, processors;
  for (processor const& p : shape.places) cores.insert(p.core), processors.insert(p.os_index);
  if (processors.size() < shape.places.size()) return "turns";
  return cores.size() < shape.places.size() ? "threads" : "";
}

/// The most that share one last-level cache.
std::size_t ranks_of_cache(topology const& machine, scaling_shape const& shape) {
  std::map<unsigned, std::size_t> ranks;
  std::size_t most = 0;
  for (processor const& p : shape.places) most = std::max(most, ++ranks[machine.has_l3 ? p.l3 : p.l2]);
  return most;
}

ordered_json shape_json(topology const& machine, scaling_shape const& shape) {
  std::set<unsigned> nodes;
  for (processor const& p : shape.places) nodes.insert(machine.nodes[p.node].os_index);
  return {{"place", shape.place},
          {"ranks", shape.places.size()},
          {"processors", processors_json(shape)},
          {"on_nodes", nodes},
          {"ranks_of_cache", ranks_of_cache(machine, shape)},
          {"beyond_cores", beyond_cores(shape)}};
}

void add_times(ordered_json& run, measure::measurement const& found, std::vector<measure::contestant*> const& players) {
  auto const& state = found.states.front();
  auto const& own = state.of.front();
  auto const row = rows_of(found, state, players).front();
  auto const median = interval_of(own.rounds);
  run["state"] = state.state;
  run["rounds"] = state.rounds;
  run["one_way_ns"] = state.one_way;
  run["time_ns"] = {{"median", median.median},
                    {"low", median.low},
                    {"high", median.high},
                    {"min", row.time.minimum},
                    {"p99", row.time.p99}};
  run["rounds_ns"] = own.rounds;
  run["algbw"] = row.algorithm_bandwidth;
  run["busbw"] = row.bus_bandwidth;
  run["own_work_ns"] = measure::median(state.of[1].rounds);
  run["flags_ns"] = run["ranks"] == 1 ? 0 : measure::median(state.of[2].rounds);
}

/// Of the pages of all ranks' arrays, those on the node of their rank; null where the system does not tell.
ordered_json share_at_home(measure::pages_found const& pages) {
  double all = 0;
  for (auto const& [node, count] : pages.by_node) all += static_cast<double>(count);
  return all == 0 ? ordered_json() : ordered_json(static_cast<double>(pages.on_own_node) / all);
}

ordered_json run_json(ordered_json run, measure::measurement const& found, measure::timing timing,
                      std::vector<measure::contestant*> const& players) {
  double const moved = bytes_moved(found.shape, timing);
  run.update({{"verb", name_of(found.shape.what)},
              {"size", found.shape.bytes()},
              {"timing", name_of(timing)},
              {"state", ""},
              {"rounds", 0},
              {"dropped_rounds", found.dropped},
              {"states", found.states.size()},
              {"moved_bytes", moved},
              {"call_bytes", bytes_moved(found.shape, measure::timing::call)},
              {"wrong", found.wrong.front()},
              {"pages_on", pages_json(found.pages.by_node)},
              {"pages_at_home", share_at_home(found.pages)}});
  if (!found.states.empty()) add_times(run, found, players);
  return run;
}

/// All points of one shape.
class shape_measured {
 public:
  shape_measured(scaling_request const& request, topology const& machine, scaling_shape const& shape,
                 point_keeper const& keeper)
      : request_(request),
        machine_(machine),
        shape_(shape),
        keeper_(keeper),
        processors_(processors_json(shape).get<std::vector<unsigned>>()),
        players_(processors_),
        probe_(processors_) {}

  void measure() {
    for (auto const bytes : request_.sizes)
      for (auto const timing : {measure::timing::cycle, measure::timing::call}) measure_size(bytes, timing);
  }

 private:
  void measure_size(std::uint64_t bytes, measure::timing timing) {
    std::size_t const verbs = timing == measure::timing::cycle ? request_.verbs.size() : 1;
    ordered_json beside;
    for (std::size_t v = 0; v < verbs; ++v) {
      verb const what = request_.verbs[v];
      auto const of = problem_of(what, bytes);
      if (keeper_.has(key_of(shape_, what, of.bytes(), timing))) continue;
      if (beside.is_null())
        beside = references_json(machine_, shape_,
                                 play(players_.references(), problem_of(verb::allreduce, bytes), timing, false));
      auto const players = players_.verb_and_waits();
      auto run = shape_json(machine_, shape_);
      run["asked_size"] = bytes;
      measure::others const others(processors_);
      run = run_json(std::move(run), play(players, of, timing, !detail::is_barrier(what)), timing, players);
      run["others_share"] = others.share();
      run["beside"] = beside;
      keeper_.take(std::move(run));
    }
  }

  measure::problem problem_of(verb what, std::uint64_t bytes) const {
    return point_of(request_, what, bytes, static_cast<rank_t>(processors_.size()));
  }

  measure::measurement play(std::vector<measure::contestant*> const& players, measure::problem const& of,
                            measure::timing timing, bool looks_at_pages) {
    auto options = request_.options;
    options.timing = timing;
    options.looks_at_pages = looks_at_pages;
    auto const progress = [&](std::size_t played) {
      show_progress(fmt::format("{} on {} ranks, {}, {}: round {} of {}", name_of(of.what), processors_.size(),
                                shape_.place, bytes_for_people(of.bytes()), played, options.rounds));
      stop_if_interrupted();
    };
    auto found = play_rounds(players, probe_, of, options, progress);
    show_progress("");
    return found;
  }

  scaling_request const& request_;
  topology const& machine_;
  scaling_shape const& shape_;
  point_keeper const& keeper_;
  std::vector<unsigned> processors_;
  shape_players players_;
  measure::latency_probe probe_;
};

std::string joined(std::string_view place, std::size_t ranks, std::string_view verb, std::uint64_t size,
                   std::string_view timing) {
  return fmt::format("{}/{}/{}/{}/{}", place, ranks, verb, size, timing);
}

}  // namespace

measure::problem point_of(scaling_request const& request, verb what, std::uint64_t bytes, rank_t ranks) {
  measure::problem of{request.element, measure::operation_kind::plus, 0, ranks, what};
  of.count = std::max<std::size_t>(bytes / of.element_bytes(), 1);
  if (detail::is_of_pieces(what)) of.count = std::max<std::size_t>(of.count / ranks, 1) * ranks;
  if (detail::is_barrier(what)) of.count = 0;
  return of;
}

std::string key_of(ordered_json const& run) {
  return joined(run["place"].get<std::string>(), run["ranks"], run["verb"].get<std::string>(), run["size"],
                run["timing"].get<std::string>());
}

std::string key_of(scaling_shape const& shape, verb what, std::uint64_t size, measure::timing timing) {
  return joined(shape.place, shape.places.size(), name_of(what), size, name_of(timing));
}

void measure_points(scaling_request const& request, topology const& machine, scaling_shape const& shape,
                    point_keeper const& keeper) {
  shape_measured(request, machine, shape, keeper).measure();
}

}  // namespace coset::cli
