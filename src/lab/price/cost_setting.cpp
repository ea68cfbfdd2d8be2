// SPDX-License-Identifier: Apache-2.0
// Models made of options, and schedules counted under them.
#include "lab/price/cost_setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "command/machine_options.hpp"
#include "lab/price/machine_model.hpp"

namespace coset::cli {
namespace {

using schedule::cost_model;

cost_model model_of(flat_costs const& costs) {
  cost_model model = cost_model::flat(costs.alpha, costs.beta, costs.gamma);
  model.ports = costs.ports;
  model.peers_per_latency = std::max(costs.ports, costs.at_once);
  return model;
}

/// A network on which schedules are counted. Ways are found once for all of them.
class shared_links {
 public:
  shared_links(schedule::network of, schedule::rank_costs const& costs)
      : ways_(std::make_shared<schedule::routes>(std::move(of), costs)), costs_(costs) {}

  cost_setting setting(schedule::cost_model shape, std::vector<rank_t> nodes) const {
    cost_setting made;
    made.shape = std::move(shape);
    made.nodes = std::move(nodes);
    made.count = [ways = ways_](schedule::schedule const& one) {
      return counted{schedule::counts(one, *ways), schedule::counts(one, *ways, schedule::sharing::nothing)};
    };
    made.cuts = [ways = ways_, costs = costs_](schedule::demand const& wanted) {
      return schedule::cuts_of(ways->between(), costs, wanted);
    };
    return made;
  }

 private:
  std::shared_ptr<schedule::routes const> ways_;
  schedule::rank_costs costs_;
};

bool are_equal(std::vector<rank_t> const& sizes) {
  return std::ranges::adjacent_find(sizes, std::ranges::not_equal_to()) == sizes.end();
}

/// The costs for all, with equal nodes as groups.
cost_model with_groups(flat_costs const& costs, std::vector<rank_t> const& nodes) {
  cost_model shape = model_of(costs);
  if (nodes.size() > 1 && are_equal(nodes)) {
    auto inner = shape.links.front();
    inner.group = nodes.front();
    shape.links.insert(shape.links.begin(), inner);
  }
  return shape;
}

rank_t sum_of(std::vector<rank_t> const& nodes) {
  auto const sum = std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0});
  return static_cast<rank_t>(std::min<std::uint64_t>(sum, UINT32_MAX));
}

}  // namespace

std::string text_of(flat_costs const& costs) {
  return fmt::format("alpha {:g} s, beta {:g} s/B, gamma {:g} s/B{}{}", costs.alpha, costs.beta, costs.gamma,
                     costs.ports == 1 ? "" : fmt::format(", {} ports", costs.ports),
                     costs.at_once == 1 ? "" : fmt::format(", {} messages at once", costs.at_once));
}

schedule::algorithm cost_setting::with_nodes(schedule::algorithm how) const {
  auto const takes = [&](char const* key) {
    return std::ranges::find(schedule::find_algorithm(how.name).parameters, key, &schedule::parameter::name) !=
           schedule::find_algorithm(how.name).parameters.end();
  };
  if (how.parameters.contains("nodes") || how.parameters.contains("tree")) return how;
  if (!tree.empty() && takes("tree"))
    how.parameters["tree"] = tree;
  else if (nodes.size() > 1 && takes("nodes"))
    how.parameters["nodes"] = schedule::value_of(nodes, '+');
  return how;
}

cost_settings cost_settings::flat(flat_costs const& costs) {
  cost_settings made;
  made.description_ = text_of(costs);
  made.of_ = [=](rank_t ranks) {
    cost_model const model = model_of(costs);
    return cost_setting{.shape = model,
                        .count = [=](schedule::schedule const& s) { return counted{schedule::counts(s, model)}; },
                        .levels = schedule::level_machine(ranks, model)};
  };
  return made;
}

// A message inside a node pays alpha and beta there; one between nodes the rest of alpha on its two links.
cost_settings cost_settings::of_nodes(std::vector<rank_t> nodes, flat_costs const& costs) {
  cost_settings made;
  made.description_ = fmt::format("{} on a node's link, {:g} of alpha and beta inside", text_of(costs), costs.inside);
  made.usual_ranks_ = sum_of(nodes);
  made.shares_links_ = true;
  made.of_ = [=, all = made.usual_ranks_](rank_t ranks) {
    if (ranks != all)
      throw schedule_error(fmt::format("the nodes hold {} ranks, not {}; leave --ranks out", all, ranks));
    double const inner = costs.alpha * costs.inside;
    auto links =
        schedule::network_of_nodes(nodes, {(costs.alpha - inner) / 2, costs.beta}, {0, costs.beta * costs.inside});
    return shared_links(std::move(links), {inner, costs.gamma}).setting(with_groups(costs, nodes), nodes);
  };
  return made;
}

cost_settings cost_settings::of_links(std::string const& file, flat_costs const& costs) {
  return of_network(schedule::read_network(file, {0, costs.beta}), file, file, costs);
}

cost_settings cost_settings::of_network(schedule::network_file of, std::string const& name, std::string file,
                                        flat_costs const& costs) {
  auto const read = std::make_shared<schedule::network_file>(std::move(of));
  shared_links const on(read->links, {costs.alpha, costs.gamma});
  cost_settings made;
  made.description_ = fmt::format("links of {}; {}", name, text_of(costs));
  made.usual_ranks_ = read->links.ranks();
  made.shares_links_ = true;
  made.of_ = [=](rank_t ranks) {
    if (ranks > read->links.ranks())
      throw schedule_error(fmt::format("{} has {} ranks, not {}", name, read->links.ranks(), ranks));
    auto nodes = read->links.ranks_by_place(ranks);
    if (nodes.size() == ranks) nodes.clear();
    auto found = on.setting(with_groups(costs, nodes), nodes);
    if (read->switches && ranks == read->switches->ranks) found.tree = file;
    return found;
  };
  return made;
}

cost_settings cost_settings::of_machine(topology machine, placement where, std::vector<std::string> settings,
                                        std::optional<double> gamma) {
  cost_settings made;
  made.description_ = machine.name;
  made.usual_ranks_ = machine.cores();
  made.of_ = [=](rank_t ranks) {
    auto const places = machine.place(ranks, where);
    auto model = std::make_shared<machine_model>(cli::model_of(machine, places, settings, gamma));
    return cost_setting{.shape = model->on.costs(),
                        .nodes = ranks_by_node(places),
                        .count = [=](schedule::schedule const& s) { return counted{schedule::counts(s, model->on)}; },
                        .levels = model->on};
  };
  return made;
}

}  // namespace coset::cli
