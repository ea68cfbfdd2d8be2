// SPDX-License-Identifier: Apache-2.0
// Schedules made by name, counted, and kept.
#include "lab/reproduce/context.hpp"

#include <sstream>

#include "planning/schedule/algorithms/flexreduce.hpp"
#include "planning/schedule/model/tree.hpp"

namespace coset::cli::reproduction {
namespace {

constexpr std::size_t most_sources_kept = 4'000'000;  // some 100 MB with their assignments

cost_setting setting_of(network_costs const& of, rank_t ranks) {
  if (!of.links.empty()) {
    std::istringstream text(of.links);
    auto const network = schedule::parse_network(text, "links", {0, of.flat.beta});
    return cost_settings::of_network(network, "links", "", of.flat).of(ranks);
  }
  if (!of.nodes.empty()) return cost_settings::of_nodes(of.nodes, of.flat).of(ranks);
  return cost_settings::flat(of.flat).of(ranks);
}

/// Whether it goes along a tree that its parameters do not give.
bool wants_tree(schedule::algorithm const& how) {
  return (how.name == "tree_ring" || how.name == "flexreduce") && how.parameters.empty();
}

schedule::schedule along_tree(std::string const& name, std::string const& links) {
  std::istringstream text(links);
  auto const tree = schedule::parse_tree(text, "links");
  return name == "tree_ring" ? schedule::tree_ring(tree) : schedule::flexreduce(tree);
}

}  // namespace

schedule::schedule const& context::made(std::string const& algorithm, rank_t ranks, verb what, rank_t root,
                                        std::string const& links) {
  auto const how = schedule::algorithm::parse(algorithm);
  bool const is_along_tree = wants_tree(how) && !links.empty();
  key const at{algorithm, ranks, what, root, is_along_tree ? links : ""};
  auto found = made_.find(at);
  if (found == made_.end()) {
    if (sources_kept_ > most_sources_kept) made_.clear(), sources_kept_ = 0;
    found =
        made_.emplace(at, is_along_tree ? along_tree(how.name, links) : schedule::make(how, ranks, what, root)).first;
    sources_kept_ += found->second.sources.size();
  }
  return found->second;
}

counted const& context::priced(std::string const& algorithm, rank_t ranks, verb what, network_costs on) {
  on.flat = replaced(on.flat);
  std::tuple const at{algorithm, ranks, what, on};
  auto found = counted_.find(at);
  if (found == counted_.end())
    found = counted_.emplace(at, setting_of(on, ranks).count(made(algorithm, ranks, what, 0, on.links))).first;
  return found->second;
}

flat_costs context::replaced(flat_costs usual) const {
  usual.alpha = instead_.alpha.value_or(usual.alpha);
  usual.beta = instead_.beta.value_or(usual.beta);
  usual.gamma = instead_.gamma.value_or(usual.gamma);
  return usual;
}

}  // namespace coset::cli::reproduction
