// SPDX-License-Identifier: Apache-2.0
// `coset search`: the cheapest chain of shifts on a machine or network.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/machine_options.hpp"
#include "cli/numbers.hpp"
#include "cli/price/machine_model.hpp"
#include "schedule/core/validate.hpp"
#include "schedule/registry/foldings.hpp"
#include "schedule/search/chain_search.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;
using schedule::element;
using clock = std::chrono::steady_clock;

/// What a group's search has found.
struct finding {
  std::string group;
  schedule::search_result result;
};

schedule::algorithm algorithm_of(finding const& f) {
  return {"fold", {{"group", f.group}, {"shifts", fmt::format("{}", fmt::join(f.result.best.shifts, "+"))}}};
}

/// Seconds for a step, for a byte that moves, for one that is combined, and for a cable on the way.
struct network_costs {
  double alpha = 3e-5, beta = 1e-8, gamma = 2e-10, hop = 0;
};

struct search_command {
  std::string model = "flat", topology, place = "compact";
  std::vector<std::string> groups, set;
  rank_t ranks = 0;
  std::uint64_t bytes = 64 << 10;
  std::uint32_t steps = 0;
  network_costs costs;
  double seconds = 60;
  bool json = false, quiet = false;

  void run() {
    auto const end = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
    read_model();
    std::size_t const most_of_the_field = steps == 0 ? SIZE_MAX : steps;
    if (steps == 0) steps = least_steps() + 2;
    auto const names = groups.empty() ? usual_groups() : groups;
    finding best;
    if (ranks > 1) best.result.best.seconds = std::numeric_limits<double>::infinity();
    std::vector<schedule::step_prices> priced;
    for (auto const& name : names) priced.push_back(prices(name));
    auto const look = [&](std::size_t g, std::function<bool()> goes_on) {
      std::string const& name = names[g];
      schedule::search_limits limits{steps, std::move(goes_on)};
      limits.below = best.result.best.seconds;
      limits.most_of_the_field = most_of_the_field;
      limits.found = [&](schedule::priced_chain const& better) {
        if (quiet) return;
        std::cerr << fmt::format("{}: {:.2f} us by {}\n", name, better.seconds * 1e6, fmt::join(better.shifts, "+"));
      };
      finding found{name, schedule::search_chain(priced[g], limits)};
      if (!found.result.best.shifts.empty()) best = found;
      return found;
    };
    // A look at all first: what is cheap over one group leaves little to be looked at over the others.
    for (std::size_t g = 0; g < names.size(); ++g) look(g, [] { return false; });
    std::vector<finding> all;
    for (std::size_t g = 0; g < names.size(); ++g) {
      auto const share = clock::now() + (end - clock::now()) / static_cast<int>(names.size() - g);
      all.push_back(look(g, [share] { return clock::now() < share; }));
    }
    print(all, best);
  }

  std::uint32_t least_steps() const {
    std::uint32_t n = 0;
    for (std::uint64_t reach = 1; reach < ranks; reach *= 2) ++n;
    return n;
  }

  void read_model() {
    schedule::require_searchable(ranks);  // before anything is made for each of them
    if (!topology.empty()) {
      auto const machine = machine_named(topology);
      if (ranks == 0) ranks = machine.cores();
      machine_ = cli::model_of(machine, machine.place(ranks, placement_named(place)), set);
    } else if (model.starts_with("torus:")) {
      schedule::algorithm const parsed{"torus", {{"ranks", model.substr(6)}}};
      network_ = network_of(parsed.numbers("ranks"));
      std::uint64_t product = 1;
      for (rank_t const n : network_->dims) product = std::min<std::uint64_t>(product * n, most_ranks);
      if (ranks == 0) ranks = static_cast<rank_t>(product);
    } else if (model == "ring") {
      network_ = network_of({ranks});
    } else if (model != "flat") {
      throw argument_error(fmt::format("--model {} is none: take flat, ring, or a torus like torus:8x8", model));
    }
    if (ranks == 0) throw argument_error("--ranks is required, unless a topology or torus tells");
  }

  schedule::torus_network network_of(std::vector<rank_t> dims) const {
    return {std::move(dims), costs.alpha, costs.hop, costs.beta, costs.gamma};
  }

  schedule::step_prices prices(std::string const& name) const {
    auto const ranks_of = schedule::group_of(name, ranks);
    auto const size = static_cast<double>(bytes);
    if (network_) return {ranks_of, *network_, size};
    if (machine_) return {ranks_of, machine_->levels, machine_->costs, size};
    auto const flat = schedule::cost_model::flat(costs.alpha, costs.beta, costs.gamma);
    return {ranks_of, schedule::rank_levels(ranks, schedule::groups_of(flat)), flat, size};
  }

  /// Cyclic, dihedral, and the products that the model suggests.
  std::vector<std::string> usual_groups() const {
    std::vector<std::string> names{"cyclic"};
    if (ranks % 2 == 0) names.emplace_back("dihedral");
    std::vector<rank_t> factors;
    if (network_) factors = network_->dims;
    if (machine_) factors = level_factors();
    if (factors.size() > 1) names.push_back(fmt::format("{}", fmt::join(factors, "x")));
    return names;
  }

  std::vector<rank_t> level_factors() const {
    std::vector<rank_t> factors;
    rank_t inner = 1;
    for (auto const& link : machine_->costs.links) {
      rank_t const group = std::min(link.group, ranks);
      if (group % inner != 0 || ranks % group != 0) return {};
      if (group != inner) factors.push_back(group / inner);
      inner = group;
    }
    return inner == ranks ? factors : std::vector<rank_t>{};
  }

  void print(std::vector<finding> const& all, finding const& best) const {
    if (best.result.best.shifts.empty() && ranks > 1)
      throw argument_error(fmt::format("no chain of at most {} steps reaches all ranks", steps));
    if (json)
      std::cout << as_json(all, best).dump(1) << '\n';
    else
      print_text(all, best);
  }

  bool is_proved(schedule::search_result const& r) const { return r.for_any_steps || r.proved_steps == steps; }

  std::string verdict(schedule::search_result const& r) const {
    if (r.for_any_steps) return "proved: no chain of single shifts takes less";
    if (is_proved(r)) return fmt::format("proved: none of at most {} steps takes less", steps);
    auto const some = r.proved_steps > 0 ? fmt::format("proved up to {} steps", r.proved_steps) : "nothing proved";
    return fmt::format("{} when the time was over; none takes less than {:.2f} us", some, r.bound * 1e6);
  }

  void print_text(std::vector<finding> const& all, finding const& best) const {
    auto const how = ranks > 1 ? algorithm_of(best) : schedule::algorithm{"direct", {}};
    std::cout << fmt::format("{:.2f} us for an allreduce of {} bytes on {} ranks: {}\n", best.result.best.seconds * 1e6,
                             bytes, ranks, how.text());
    for (finding const& f : all)
      std::cout << fmt::format("group {}: {}; {} beginnings of chains\n", f.group, verdict(f.result),
                               f.result.looked_at);
  }

  ordered_json as_json(std::vector<finding> const& all, finding const& best) const {
    ordered_json list = ordered_json::array();
    for (finding const& f : all)
      list.push_back({{"group", f.group},
                      {"proved_steps", f.result.proved_steps},
                      {"for_any_steps", f.result.for_any_steps},
                      {"bound", f.result.bound},
                      {"looked_at", f.result.looked_at}});
    return {{"coset_search", 1},
            {"model", topology.empty() ? model : topology},
            {"ranks", ranks},
            {"bytes", bytes},
            {"most_steps", steps},
            {"algorithm", ranks > 1 ? algorithm_of(best).text() : "direct"},
            {"seconds", best.result.best.seconds},
            {"proved_to_most_steps", std::ranges::all_of(all, [&](finding const& f) { return is_proved(f.result); })},
            {"groups", list}};
  }

 private:
  std::optional<machine_model> machine_;
  std::optional<schedule::torus_network> network_;
};

}  // namespace

void add_search(CLI::App& app) {
  auto const command = app.add_subcommand("search", "Look for the cheapest chain of shifts under a model");
  auto const state = std::make_shared<search_command>();
  add_ranks(*command, state->ranks, "How many ranks take part; a topology or torus tells, too");
  command
      ->add_option(
          "--group", state->groups,
          "Groups over which to look, as the parameter group of fold: 4x3, d10; default: cyclic, dihedral, and "
          "the product of the model's levels or dimensions")
      ->delimiter(',');
  command->add_option("-b,--bytes", state->bytes, "Size of the vector; K, M and G are powers of 1024")
      ->transform(byte_size())
      ->capture_default_str();
  auto* const model =
      command
          ->add_option("--model", state->model,
                       "flat: all ranks are as far apart. ring, or torus:8x8: neighbours are joined by cables, the "
                       "busiest of which counts")
          ->capture_default_str();
  auto const add_seconds = [&](char const* name, double& value, char const* meaning) {
    return command->add_option(name, value, meaning)->check(seconds())->capture_default_str();
  };
  auto* const alpha = add_seconds("--alpha", state->costs.alpha, "Seconds per step");
  auto* const beta = add_seconds("--beta", state->costs.beta, "Seconds per byte, of a rank or cable");
  auto* const gamma = add_seconds("--gamma", state->costs.gamma, "Seconds per byte combined");
  auto* const hop = add_seconds("--hop", state->costs.hop, "Seconds per cable on the longest way of a step");
  auto* const topology = command->add_option(
      "--topology", state->topology,
      "A machine instead, priced as `coset cost` does: a file of hwloc's XML, a synthetic description like \"node:2 "
      "core:4 pu:1\", or \"machine\"");
  for (auto* const other : {model, alpha, beta, gamma, hop}) topology->excludes(other);
  add_place(*command, state->place)->needs(topology);
  command->add_option("--set", state->set, "With --topology, a level's seconds, as of `coset cost`; repeatable")
      ->allow_extra_args(false)
      ->needs(topology);
  command
      ->add_option("--steps", state->steps,
                   "The most steps of the reduction; default: two more than necessary, and "
                   "any number for the field's own chains")
      ->check(whole_number(1, 4096));
  add_seconds("--seconds", state->seconds, "When to stop and to tell the best chain so far");
  command->add_flag("--quiet", state->quiet, "Do not tell better chains on standard error as they are found");
  command->add_flag("--json", state->json, "The result as JSON");
  command->callback([state] { state->run(); });
}

}  // namespace coset::cli
