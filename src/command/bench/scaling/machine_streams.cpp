// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/machine_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/bench/bench_output.hpp"
#include "command/bench/scaling/between.hpp"
#include "command/bench/scaling/limits.hpp"
#include "command/bench/scaling/spread.hpp"
#include "command/interruption.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/machine/latency.hpp"
#include "command/measure/references/streams.hpp"
#include "numa/quota.hpp"

namespace coset::cli {
namespace {

using measure::pages, nlohmann::ordered_json;

/// Of an array of each rank, so that one of each come to twice the caches, but not to more than a part of the memory that is
/// free. Virtual machines name their host's caches, of which they have a part.
std::size_t array_bytes(topology const& machine, std::size_t ranks, bool is_glance) {
  constexpr std::size_t least = std::size_t{128} << 20, most_of_node = std::size_t{1} << 29, page = 4096;
  auto const most = std::min<std::size_t>(most_of_node * machine.nodes.size(), numa::free_memory() / 16);
  auto const wanted = is_glance ? least / 8 : std::max<std::size_t>(2 * machine.cache_bytes, least);
  return std::max(std::min(wanted, most) / std::max<std::size_t>(ranks, 1) / page * page, page);
}

ordered_json json_of(interval const& of) { return {{"median", of.median}, {"low", of.low}, {"high", of.high}}; }

/// As people say it.
std::string in_words(pages from, unsigned node) {
  if (from == pages::bound) return fmt::format("bound to node {}", node);
  return from == pages::first_touch ? "first touch" : "interleaved";
}

class streams_measured {
 public:
  streams_measured(topology const& machine, stream_options const& options)
      : machine_(machine), options_(options), cores_(cores_by_node(machine)) {}

  ordered_json all() {
    auto found = ordered_json::array();
    for (std::size_t node = 0; node < cores_.size(); ++node) {
      if (cores_[node].empty()) continue;
      found.push_back(one(fmt::format("node {}", os_index(node)), cores_[node], pages::first_touch, 0));
    }
    std::vector<unsigned> every;
    for (auto const& cores : cores_) every.insert(every.end(), cores.begin(), cores.end());
    found.push_back(one("one core", {every.front()}, pages::first_touch, 0));
    if (machine_.nodes.size() == 1) return found;  // whose pages all come from one place
    found.push_back(one("all nodes", every, pages::first_touch, 0));
    found.push_back(one("all nodes", every, pages::bound, os_index(0)));
    found.push_back(one("all nodes", every, pages::interleaved, 0));
    return found;
  }

  /// Of the readers who have their arrays on the node; nothing if a page lies elsewhere, as it does where the node is full.
  std::optional<double> read_rate(std::vector<unsigned> const& readers, unsigned node) {
    show_progress(fmt::format("reads of node {}'s memory", node));
    measure::streaming play({readers, array_bytes(machine_, readers.size(), options_.is_glance), pages::bound, node});
    stop_if_interrupted();
    auto const found = play.pages_by_node();
    if (found.size() > 1 || (found.size() == 1 && !found.contains(node))) return std::nullopt;
    return measure::median(play.play(measure::stream::read, options_.rounds, round_nanoseconds()));
  }

 private:
  double round_nanoseconds() const { return options_.is_glance ? 0 : 3e7; }
  unsigned os_index(std::size_t node) const { return machine_.nodes[node].os_index; }

  ordered_json one(std::string const& where, std::vector<unsigned> const& processors, pages from, unsigned node) {
    auto const named = in_words(from, node);
    measure::stream_field const field{processors, array_bytes(machine_, processors.size(), options_.is_glance), from,
                                      node};
    measure::streaming play(field);
    ordered_json found{
        {"where", where}, {"ranks", processors.size()}, {"pages", named}, {"array_bytes", field.array_bytes}};
    found["pages_on"] = pages_json(play.pages_by_node());
    for (auto const what : measure::streams) {
      show_progress(fmt::format("{} by {}, {}", measure::name_of(what), where, named));
      found[std::string(measure::name_of(what))] =
          json_of(interval_of(play.play(what, options_.rounds, round_nanoseconds())));
      stop_if_interrupted();
    }
    return found;
  }

  topology const& machine_;
  stream_options options_;
  std::vector<std::vector<unsigned>> cores_;  ///< [node]
};

}  // namespace

ordered_json pages_json(std::map<unsigned, std::size_t> const& pages) {
  auto found = ordered_json::object();
  for (auto const& [node, count] : pages) found[std::to_string(node)] = count;
  return found;
}

ordered_json machine_json(topology const& machine) {
  auto const sizes = cache_sizes_of(machine);
  auto nodes = ordered_json::array();
  auto const cores = cores_by_node(machine);
  for (std::size_t node = 0; node < cores.size(); ++node)
    nodes.push_back({{"node", machine.nodes[node].os_index}, {"cores", cores[node]}});
  return {{"cores", machine.cores()},
          {"processors", machine.processors.size()},
          {"own_cache_bytes", sizes.own},
          {"shared_cache_bytes", sizes.shared},
          {"nodes", nodes}};
}

ordered_json measure_machine(topology const& machine, stream_options const& options) {
  streams_measured streams(machine, options);
  ordered_json found{{"streams", streams.all()}};
  found["between_nodes"] = measure_between(
      machine, {[&](std::vector<unsigned> const& readers, unsigned node) { return streams.read_rate(readers, node); },
                [](std::vector<unsigned> const& some) { return measure::latency_probe(some).measure(); }});
  show_progress("");
  return found;
}

}  // namespace coset::cli
