// SPDX-License-Identifier: Apache-2.0
// What the words of the sources' files work with: schedules made once, prices, and simulated times.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lab/price/cost_setting.hpp"
#include "lab/reproduce/simulated.hpp"

namespace coset::cli::reproduction {

/// What the caller wants instead of the sources' parameters.
struct replaced_costs {
  std::optional<double> alpha, beta, gamma;
};

/// Which network prices are of: one cost for all pairs, nodes of consecutive ranks, or a network as `--links` reads it.
struct network_costs {
  flat_costs flat = {};
  std::vector<rank_t> nodes = {};
  std::string links = {};  ///< JSON

  friend bool operator<(network_costs const& a, network_costs const& b) {
    auto const all = [](network_costs const& c) {
      return std::tie(c.flat.alpha, c.flat.beta, c.flat.gamma, c.flat.inside, c.flat.ports, c.flat.at_once, c.nodes,
                      c.links);
    };
    return all(a) < all(b);
  }
};

class context {
 public:
  /// may_run: whether words that time this machine do.
  context(replaced_costs const& instead, simulated_times times, bool may_run)
      : instead_(instead), times_(std::move(times)), may_run_(may_run) {}

  /// Valid until the next call: kept as long as there is room. Throws schedule_error as make() does. tree_ring and flexreduce without nodes
  /// go along `links`, a tree as JSON.
  schedule::schedule const& made(std::string const& algorithm, rank_t ranks, verb what = verb::allreduce,
                                 rank_t root = 0, std::string const& links = "");
  /// Counted once, under the source's parameters or those that the caller gave instead.
  counted const& priced(std::string const& algorithm, rank_t ranks, verb what, network_costs);
  flat_costs replaced(flat_costs usual) const;

  simulated_times const& times() const { return times_; }
  bool may_run() const { return may_run_; }

 private:
  using key = std::tuple<std::string, rank_t, verb, rank_t, std::string>;

  replaced_costs instead_;
  simulated_times times_;
  bool may_run_;
  std::map<key, schedule::schedule> made_;
  std::size_t sources_kept_ = 0;
  std::map<std::tuple<std::string, rank_t, verb, network_costs>, counted> counted_;
};

}  // namespace coset::cli::reproduction
