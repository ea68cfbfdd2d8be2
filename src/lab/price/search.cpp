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

#include "command/bound_json.hpp"
#include "command/lab.hpp"
#include "command/machine_options.hpp"
#include "command/numbers.hpp"
#include "command/shown/networks/network.hpp"
#include "lab/commands.hpp"
#include "lab/price/machine_model.hpp"
#include "lab/search/wide_search.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/foldings.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;
using schedule::element;
using clock = std::chrono::steady_clock;

/// What a group's search has found, and that for steps of several shifts, or fewer, if it was asked for.
struct finding {
  std::string group;
  schedule::search_result result;
  std::optional<schedule::wide_result> wide = {};
};

/// The cheapest of all groups.
struct best_chain {
  std::string group;
  schedule::wide_chain how;
};

std::string text_of(schedule::shift_list const& steps) {
  std::vector<std::string> texts;
  for (auto const& step : steps) texts.push_back(fmt::format("{}", fmt::join(step, ".")));
  return fmt::format("{}", fmt::join(texts, "+"));
}

schedule::algorithm algorithm_of(best_chain const& best) {
  schedule::algorithm how{"fold", {{"group", best.group}, {"shifts", text_of(best.how.steps)}}};
  if (best.how.saved_steps > 0) how.parameters["saved_steps"] = std::to_string(best.how.saved_steps);
  return how;
}

/// Seconds for a step, for a byte that moves, for one that is combined, and for a cable on the way.
struct network_costs {
  double alpha = 3e-5, beta = 1e-8, gamma = 2e-10, hop = 0;
};

/// Where the ranks are.
struct searched_machine {
  std::string model = "flat", topology, place = "compact", links;
  std::vector<std::string> set;
};

struct search_command {
  searched_machine on;
  std::vector<std::string> groups;
  rank_t ranks = 0, radix = 2;
  std::uint64_t bytes = 64 << 10;
  std::uint32_t steps = 0;
  network_costs costs;
  double seconds = 60;
  bool json = false, quiet = false, saves_steps = false;

  void run() {
    auto const end = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
    read_model();
    std::size_t const most_of_the_field = steps == 0 ? SIZE_MAX : steps;
    if (steps == 0) steps = least_steps() + 2;
    auto const names = groups.empty() ? usual_groups() : groups;
    best_chain best;
    if (ranks > 1) best.how.seconds = std::numeric_limits<double>::infinity();
    std::vector<schedule::step_prices> priced;
    for (auto const& name : names) priced.push_back(prices(name));
    auto const tell = [&](std::string const& name, schedule::wide_chain better) {
      best = {name, std::move(better)};
      if (quiet) return;
      std::cerr << fmt::format("{}: {:.2f} us by {}\n", name, best.how.seconds * 1e6, how_text(best.how));
    };
    auto const look = [&](std::size_t g, std::function<bool()> goes_on) {
      schedule::search_limits limits{steps, std::move(goes_on)};
      limits.below = best.how.seconds;
      limits.most_of_the_field = most_of_the_field;
      limits.found = [&](schedule::priced_chain const& better) {
        schedule::shift_list single;
        for (element const s : better.shifts) single.push_back({s});
        tell(names[g], {std::move(single), 0, better.seconds});
      };
      return finding{names[g], schedule::search_chain(priced[g], limits)};
    };
    auto const look_wide = [&](std::size_t g, std::function<bool()> goes_on) {
      return schedule::search_wide(priced[g],
                                   {.most_steps = steps,
                                    .most_radix = radix,
                                    .saves_steps = saves_steps,
                                    .goes_on = std::move(goes_on),
                                    .found = [&](schedule::wide_chain const& better) { tell(names[g], better); },
                                    .below = best.how.seconds});
    };
    // A look at all first: what is cheap over one group leaves little to be looked at over the others.
    for (std::size_t g = 0; g < names.size(); ++g) look(g, [] { return false; });
    std::vector<finding> all;
    std::size_t left = names.size() * (is_wide() ? 2 : 1);
    auto const share = [&] {
      auto const until = clock::now() + (end - clock::now()) / static_cast<int>(left--);
      return [until] { return clock::now() < until; };
    };
    for (std::size_t g = 0; g < names.size(); ++g) all.push_back(look(g, share()));
    for (std::size_t g = 0; is_wide() && g < names.size(); ++g) all[g].wide = look_wide(g, share());
    print(all, best);
  }

  bool is_wide() const { return radix > 2 || saves_steps; }

  static std::string how_text(schedule::wide_chain const& how) {
    return text_of(how.steps) + (how.saved_steps > 0 ? fmt::format(", {} steps saved", how.saved_steps) : "");
  }

  std::uint32_t least_steps() const {
    std::uint32_t n = 0;
    for (std::uint64_t reach = 1; reach < ranks; reach *= 2) ++n;
    return n;
  }

  void read_model() {
    schedule::require_searchable(ranks);  // before anything is made for each of them
    if (!on.topology.empty()) {
      auto const machine = machine_named(on.topology);
      if (ranks == 0) ranks = machine.cores();
      machine_ = cli::model_of(machine, machine.place(ranks, placement_named(on.place)), on.set);
    } else if (!on.links.empty()) {
      network_ = schedule::read_network(on.links, {0, costs.beta}).links;
      if (ranks == 0) ranks = network_->ranks();
    } else if (on.model.starts_with("torus:")) {
      schedule::algorithm const parsed{"torus", {{"ranks", on.model.substr(6)}}};
      set_torus(parsed.numbers("ranks"));
      if (ranks == 0) ranks = network_->ranks();
    } else if (on.model == "ring") {
      if (ranks > 0) set_torus({ranks});
    } else if (on.model != "flat") {
      throw argument_error(fmt::format("--model {} is none: take flat, ring, or a torus like torus:8x8", on.model));
    }
    if (ranks == 0) throw argument_error("--ranks is required, unless a topology or network tells");
  }

  /// The fastest dimension first, as of groups.
  void set_torus(std::vector<rank_t> dims) {
    std::uint64_t product = 1;
    for (rank_t const n : dims) product = std::min<std::uint64_t>(product * n, most_ranks);
    schedule::require_searchable(static_cast<rank_t>(product));
    if (product == 0)
      throw argument_error(fmt::format("--model {}: a dimension of no ranks; take 1 or more", on.model));
    dims_ = dims;
    std::ranges::reverse(dims);
    network_ = schedule::grid_network(dims, true, {.link = {costs.hop, costs.beta}});
  }

  schedule::step_prices prices(std::string const& name) const {
    return {schedule::group_of(name, ranks), machine_of_model(), static_cast<double>(bytes)};
  }

  std::shared_ptr<schedule::machine const> machine_of_model() const {
    if (network_) return std::make_shared<schedule::routes>(*network_, schedule::rank_costs{costs.alpha, costs.gamma});
    if (machine_) return std::make_shared<schedule::level_machine>(machine_->on);
    return std::make_shared<schedule::level_machine>(ranks,
                                                     schedule::cost_model::flat(costs.alpha, costs.beta, costs.gamma));
  }

  /// Cyclic, dihedral, and the products that the model suggests.
  std::vector<std::string> usual_groups() const {
    std::vector<std::string> names{"cyclic"};
    if (ranks % 2 == 0) names.emplace_back("dihedral");
    std::vector<rank_t> factors;
    if (network_) factors = dims_;
    if (machine_) factors = level_factors();
    if (factors.size() > 1) names.push_back(fmt::format("{}", fmt::join(factors, "x")));
    return names;
  }

  std::vector<rank_t> level_factors() const {
    std::vector<rank_t> factors;
    rank_t inner = 1;
    for (auto const& link : machine_->on.costs().links) {
      rank_t const group = std::min(link.group, ranks);
      if (group % inner != 0 || ranks % group != 0) return {};
      if (group != inner) factors.push_back(group / inner);
      inner = group;
    }
    return inner == ranks ? factors : std::vector<rank_t>{};
  }

  void print(std::vector<finding> const& all, best_chain const& best) const {
    if (best.how.steps.empty() && ranks > 1)
      throw argument_error(fmt::format("no chain of at most {} steps reaches all ranks", steps));
    if (!json) return print_text(all, best);
    auto told = as_json(all, best);
    if (auto const cut = bound()) told.update(bound_json(*cut, static_cast<double>(bytes), best.how.seconds));
    std::cout << told.dump(1) << '\n';
  }

  bool is_proved(schedule::search_result const& r) const { return r.for_any_steps || r.proved_steps == steps; }

  std::string verdict(schedule::search_result const& r) const {
    if (r.for_any_steps) return "proved: no chain of single shifts takes less";
    if (is_proved(r)) return fmt::format("proved: none of at most {} steps takes less", steps);
    auto const some = r.proved_steps > 0 ? fmt::format("proved up to {} steps", r.proved_steps) : "nothing proved";
    return fmt::format("{} when the time was over; none takes less than {:.2f} us", some, r.bound * 1e6);
  }

  std::string verdict(schedule::wide_result const& r) const {
    auto const what = fmt::format("{}{}", radix > 2 ? fmt::format("to radix {}", radix) : "single shifts",
                                  saves_steps ? ", steps saved" : "");
    if (r.is_proved) return fmt::format("{}: proved, none of at most {} steps takes less", what, steps);
    return fmt::format("{}: {} chains looked at when the time was over", what, r.looked_at);
  }

  /// No plan whatever takes less, chain or not, on links that ranks share.
  std::optional<schedule::cut> bound() const {
    if (!network_) return std::nullopt;
    auto const cuts = schedule::cuts_of(*network_, {costs.alpha, costs.gamma}, {.ranks = ranks});
    return binding(cuts, static_cast<double>(bytes));
  }

  void print_text(std::vector<finding> const& all, best_chain const& best) const {
    auto const how = ranks > 1 ? algorithm_of(best) : schedule::algorithm{"direct", {}};
    std::cout << fmt::format("{:.2f} us for an allreduce of {} bytes on {} ranks: {}\n", best.how.seconds * 1e6, bytes,
                             ranks, how.text());
    if (auto const cut = bound())
      std::cout << fmt::format("no plan whatever takes less than {:.2f} us; the cut that binds: {}\n",
                               cut->seconds(static_cast<double>(bytes)) * 1e6, cut->name);
    for (finding const& f : all) {
      std::cout << fmt::format("group {}: {}; {} beginnings of chains\n", f.group, verdict(f.result),
                               f.result.looked_at);
      if (f.wide) std::cout << fmt::format("group {}, {}\n", f.group, verdict(*f.wide));
    }
  }

  ordered_json as_json(std::vector<finding> const& all, best_chain const& best) const {
    ordered_json list = ordered_json::array();
    for (finding const& f : all) {
      list.push_back({{"group", f.group},
                      {"proved_steps", f.result.proved_steps},
                      {"for_any_steps", f.result.for_any_steps},
                      {"bound", f.result.bound},
                      {"looked_at", f.result.looked_at}});
      if (f.wide) list.back()["wide"] = {{"proved", f.wide->is_proved}, {"looked_at", f.wide->looked_at}};
    }
    return {{"coset_search", 1},
            {"model", !on.topology.empty() ? on.topology
                      : !on.links.empty()  ? on.links
                                           : on.model},
            {"ranks", ranks},
            {"bytes", bytes},
            {"most_steps", steps},
            {"most_radix", radix},
            {"algorithm", ranks > 1 ? algorithm_of(best).text() : "direct"},
            {"seconds", best.how.seconds},
            {"proved_to_most_steps", std::ranges::all_of(all, [&](finding const& f) { return is_proved(f.result); })},
            {"groups", list}};
  }

 private:
  std::optional<machine_model> machine_;
  std::optional<schedule::network> network_;
  std::vector<rank_t> dims_;  // of a torus, the fastest first
};

}  // namespace

void add_search(CLI::App& app) {
  auto const command = add_lab_command(app, "search");
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
          ->add_option("--model", state->on.model,
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
      "--topology", state->on.topology,
      "A machine instead, priced as `coset cost` does: a file of hwloc's XML, a synthetic description like \"node:2 "
      "core:4 pu:1\", or \"machine\"");
  auto* const links = command->add_option("--links", state->on.links,
                                          "A network's file instead, as `coset cost` takes it; --beta is of links "
                                          "whose bandwidth it does not tell");
  for (auto* const other : {model, alpha, beta, gamma, hop, links}) topology->excludes(other);
  for (auto* const other : {model, hop}) links->excludes(other);
  add_place(*command, state->on.place)->needs(topology);
  command->add_option("--set", state->on.set, "With --topology, a level's seconds, as of `coset cost`; repeatable")
      ->allow_extra_args(false)
      ->needs(topology);
  command
      ->add_option("--steps", state->steps,
                   "The most steps of the reduction; default: two more than necessary, and "
                   "any number for the field's own chains")
      ->check(whole_number(1, 4096));
  command
      ->add_option("--radix", state->radix,
                   "Also steps of up to so many values combined in one pass, by multiples of a shift")
      ->check(whole_number(2, 1024))
      ->capture_default_str();
  command->add_flag("--saved-steps", state->saves_steps,
                    "Also chains that save steps of the way back; bits may then differ between ranks");
  add_seconds("--seconds", state->seconds, "When to stop and to tell the best chain so far");
  command->add_flag("--quiet", state->quiet, "Do not tell better chains on standard error as they are found");
  command->add_flag("--json", state->json, "The result as JSON");
  command->callback([state] { state->run(); });
}

}  // namespace coset::cli
