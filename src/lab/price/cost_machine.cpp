// SPDX-License-Identifier: Apache-2.0
// The selector over the levels of a placement, as a table and as JSON.
#include "lab/price/cost_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "command/bytes.hpp"
#include "command/machine_options.hpp"
#include "command/shown/selector.hpp"
#include "command/table.hpp"
#include "lab/price/machine_model.hpp"
#include "planning/choice/levels.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/registry/permutation.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;
using schedule::fraction;

/// The reads between nodes that are known before any schedule is made, in vectors.
struct between_nodes {
  std::size_t nodes;
  fraction least;  ///< each node's part has to get out, the result in: N − 1 vectors to fold, N − 1 to spread
  fraction flat;   ///< of `direct`: the owner of a block reads it from all, and all read its result
};

/// On N equal nodes flat is 2·P(N−1)/N.
between_nodes between_nodes_of(std::vector<processor> const& places) {
  std::map<unsigned, std::int64_t> on_node;
  for (processor const& p : places) ++on_node[p.node];
  auto const ranks = static_cast<std::int64_t>(places.size());
  std::int64_t squares = 0;
  for (auto const& [node, count] : on_node) squares += count * count;
  auto const nodes = static_cast<std::int64_t>(on_node.size());
  return {on_node.size(), 2 * (nodes - 1), fraction(2 * ranks) - fraction(2 * squares, ranks)};
}

class costs_on_machine {
 public:
  static constexpr std::size_t most_blocks = std::size_t{1} << 18;  ///< 512 ranks that own one each

  explicit costs_on_machine(machine_request request)
      : request_(completed(std::move(request))),
        model_(priced(places_)),
        nodes_(between_nodes_of(places_)),
        soon_(most_blocks),
        selector_(request_.wanted, model_.on, tried()),
        order_(selector_.rank(static_cast<double>(request_.bytes))) {}

  std::string as_text() const {
    auto const what = name_of(request_.wanted.verb);
    std::string text = fmt::format("{} of {} bytes on {} ranks of {}, {}\n", what, request_.bytes,
                                   request_.wanted.ranks, machine_.name, request_.place);
    text += level_table() + '\n' + candidates() + node_lines();
    if (std::size_t const ranks = request_.wanted.ranks; ranks * ranks > most_blocks)
      text += "what would be written out for all of so many ranks is not counted\n";
    return text;
  }

  ordered_json as_json() const {
    ordered_json levels = ordered_json::array(), candidates = ordered_json::array();
    for (std::size_t l = 0; l < model_.names.size(); ++l) {
      auto const& link = model_.on.costs().links[l];
      levels.push_back(
          {{"level", model_.names[l]}, {"alpha", link.latency}, {"lambda", link.per_peer}, {"beta", link.per_byte}});
    }
    for (auto const& [one, seconds] : order_) candidates.push_back(candidate_json(*one, seconds));
    return {{"coset_cost", 1},
            {"topology", machine_.name},
            {"place", request_.place},
            {"collective", name_of(request_.wanted.verb)},
            {"ranks", request_.wanted.ranks},
            {"bytes", request_.bytes},
            {"levels", levels},
            {"gamma", model_.on.costs().combine_per_byte},
            {"between_nodes", nodes_json()},
            {"candidates", candidates}};
  }

 private:
  machine_request completed(machine_request request) {
    machine_ = machine_named(request.topology);
    if (request.wanted.ranks == 0) request.wanted.ranks = machine_.cores();
    places_ = machine_.place(request.wanted.ranks, placement_named(request.place));
    request.wanted.nodes = ranks_by_node(places_);
    return request;
  }

  /// Of scattered ranks what folds node by node, in the order in which a node's ranks are neighbours.
  std::vector<schedule::algorithm> folds_by_level() const {
    std::vector<schedule::algorithm> all;
    auto const order = choice::level_facts_of(places_).order;
    if (order.empty() || detail::is_scan(request_.wanted.verb)) return all;
    std::vector<processor> moved;
    for (rank_t const r : order) moved.push_back(places_[r]);
    auto by_level = request_.wanted;
    by_level.nodes = ranks_by_node(moved);
    for (schedule::algorithm& how : schedule::candidates_for(by_level, priced(moved).on.costs())) {
      if (!how.parameters.contains("dims") && !how.parameters.contains("nodes")) continue;
      how.parameters[schedule::permute] = schedule::permutation_text(order);
      all.push_back(std::move(how));
    }
    return all;
  }

  machine_model priced(std::vector<processor> const& places) const {
    return model_of(machine_, places, request_.set, request_.gamma);
  }

  std::vector<schedule::algorithm> tried() const {
    auto all = candidates_for(request_.wanted, model_.on.costs());
    std::ranges::move(folds_by_level(), std::back_inserter(all));
    return with_best_blocks(std::move(all), request_.wanted, model_.on, static_cast<double>(request_.bytes));
  }

  fraction crossing_nodes(schedule::candidate const& one) const {
    fraction sum = 0;
    auto const& volumes = one.work.volumes();
    for (std::size_t l = model_.first_between_nodes(); l < volumes.size(); ++l) sum += volumes[l].total;
    return sum;
  }

  double bytes_of(fraction volume) const { return volume.value() * static_cast<double>(request_.bytes); }

  /// Without a fraction if the number is whole.
  std::string exact_bytes(fraction volume) const {
    fraction const bytes = volume * fraction(static_cast<std::int64_t>(request_.bytes));
    return bytes.denominator() == 1 ? bytes.text() : fmt::format("{:.1f}", bytes_of(volume));
  }

  std::string level_table() const {
    auto told = table().with(as::words, {"joined by=level"}).with(as::us, {"alpha", "lambda"});
    told.with({.unit = "ns/B", .digits = 3, .scale = 1e9}, {"beta"});
    auto json = as_json();
    for (auto& level : json["levels"]) told.add(std::move(level));
    return told.as_text();
  }

  std::string candidates() const {
    auto told = table()
                    .with({.unit = "us", .digits = 2, .scale = 1e6}, {"time=seconds"})
                    .with(as::ratio, {"ratio"})
                    .with(as::numbers, {"steps"});
    constexpr look in_bytes{.unit = "B"};
    for (auto const& name : model_.names)
      told.with(in_bytes, fmt::format("read over {}\nby all", name), name + ".all")
          .with(in_bytes, fmt::format("read over {}\nmost by one", name), name + ".one");
    if (nodes_.nodes > 1) told.with({.unit = "vectors"}, {"between nodes=between_nodes"});
    told.with(as::words, {"algorithm"});
    double const fastest = order_.front().seconds;
    for (auto const& [one, seconds] : order_) {
      auto row = candidate_json(*one, seconds);
      row["ratio"] = fastest > 0 ? seconds / fastest : 1.0;
      for (std::size_t l = 0; l < model_.names.size(); ++l) {
        auto const& volume = one->work.volumes()[l];
        row[model_.names[l]] = {{"all", exact_bytes(volume.total)}, {"one", exact_bytes(volume.largest)}};
      }
      told.add(std::move(row));
    }
    return told.as_text();
  }

  std::string node_lines() const {
    if (nodes_.nodes < 2 || !detail::folds_for_all(request_.wanted.verb)) return "";
    fraction const fastest = crossing_nodes(*order_.front().which);
    return fmt::format(
        "read between the {} nodes, in vectors: {} by the fastest; {} = 2(N-1) at least, N-1 to fold and N-1 to "
        "spread; "
        "{} by direct, which ignores nodes\n",
        nodes_.nodes, fastest.text(), nodes_.least.text(), nodes_.flat.text());
  }

  ordered_json nodes_json() const {
    ordered_json json{{"nodes", nodes_.nodes}, {"ranks", request_.wanted.nodes}};
    if (detail::folds_for_all(request_.wanted.verb)) {
      json["least"] = nodes_.least.text();
      json["flat"] = nodes_.flat.text();
    }
    return json;
  }

  ordered_json candidate_json(schedule::candidate const& one, double seconds) const {
    ordered_json traffic = ordered_json::array();
    for (std::size_t l = 0; l < model_.names.size(); ++l) {
      auto const& [total, largest] = one.work.volumes()[l];
      traffic.push_back({{"level", model_.names[l]},
                         {"all", total.text()},
                         {"all_bytes", bytes_of(total)},
                         {"largest", largest.text()},
                         {"largest_bytes", bytes_of(largest)}});
    }
    return {{"algorithm", one.how.text()},
            {"seconds", seconds},
            {"steps", one.found.steps},
            {"rank_uniform", one.found.rank_uniform},
            {"ordered", one.found.ordered},
            {"traffic", traffic},
            {"between_nodes", crossing_nodes(one).text()}};
  }

  topology machine_;
  std::vector<processor> places_;
  machine_request request_;
  machine_model model_;
  between_nodes nodes_;
  schedule::room_limit soon_;  ///< while candidates are counted
  schedule::selector selector_;
  std::vector<schedule::scored> order_;
};

}  // namespace

void print_costs_on_machine(std::ostream& out, machine_request request) {
  bool const json = request.json;
  costs_on_machine const found(std::move(request));
  out << (json ? found.as_json().dump(1) + '\n' : found.as_text());
}

}  // namespace coset::cli
