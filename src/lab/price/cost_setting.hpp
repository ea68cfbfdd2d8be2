// SPDX-License-Identifier: Apache-2.0
// What `coset cost` prices with: one cost for all, nodes or a network of shared links, or a machine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/shown/networks/cuts.hpp"
#include "command/shown/networks/network.hpp"
#include "coset/topology.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::cli {

/// Seconds for a message, for a byte that moves and for a byte that is combined.
struct flat_costs {
  double alpha = 3e-5, beta = 1e-8, gamma = 2e-10;
  double inside = 0.1;  ///< what alpha and beta are inside a node, where nodes are given
  // Where all pairs cost the same:
  rank_t ports = 1;    ///< messages of a rank that travel at once, each at full speed: one network card each
  rank_t at_once = 1;  ///< messages of a rank whose latencies overlap, while their bytes share its ports
};

/// "alpha 3e-05 s, beta 1e-08 s/B, gamma 2e-10 s/B"
std::string text_of(flat_costs const&);

/// A schedule's counts under a model.
struct counted {
  schedule::counts work = {};
  std::optional<schedule::counts> alone = {};  ///< without contention, where links are shared

  schedule::price price(double bytes) const { return work.priced(bytes); }
  /// How many times longer transfers take for it.
  double contention(double bytes) const {
    double const without = alone ? alone->priced(bytes).transfer : 0;
    return without > 0 ? price(bytes).transfer / without : 1;
  }
};

/// A model for one number of ranks.
struct cost_setting {
  schedule::cost_model shape;      ///< with levels as groups, for the algorithms to try
  std::vector<rank_t> nodes = {};  ///< of consecutive ranks each, if there are any
  std::string tree = {};           ///< a file, if all its ranks take part
  std::function<counted(schedule::schedule const&)> count;
  /// The levels on which that counts, if it is levels.
  std::optional<schedule::level_machine> levels = {};
  /// What no plan undercuts on the links that ranks share; not there where they share none.
  std::function<std::vector<schedule::cut>(schedule::demand const&)> cuts = {};

  /// The algorithm with the nodes or the tree that it needs and was not given.
  schedule::algorithm with_nodes(schedule::algorithm) const;
};

/// The models that the options describe.
class cost_settings {
 public:
  static cost_settings flat(flat_costs const&);
  static cost_settings of_nodes(std::vector<rank_t> nodes, flat_costs const&);
  /// Links that the file leaves out cost beta a byte. Throws schedule_error if it is no network.
  static cost_settings of_links(std::string const& file, flat_costs const&);
  /// The same of a network that is called `name`; `file` is where algorithms read its tree, if they can.
  static cost_settings of_network(schedule::network_file, std::string const& name, std::string file, flat_costs const&);
  /// Ranks placed on a machine, as model_of() prices its levels with these settings.
  static cost_settings of_machine(topology, placement, std::vector<std::string> settings, std::optional<double> gamma);

  /// "alpha 3e-05 s, …"
  std::string const& description() const { return description_; }
  rank_t usual_ranks() const { return usual_ranks_; }
  bool shares_links() const { return shares_links_; }
  /// Throws what cannot be: more ranks than there are, other ranks than the nodes have.
  cost_setting of(rank_t ranks) const { return of_(ranks); }

 private:
  std::string description_;
  rank_t usual_ranks_ = 8;
  bool shares_links_ = false;
  std::function<cost_setting(rank_t)> of_;
};

}  // namespace coset::cli
