// SPDX-License-Identifier: Apache-2.0
// `coset why`: the plan that a call gets, and what every candidate is expected to cost.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text/suggestion.hpp"
#include "command/bytes.hpp"
#include "command/commands.hpp"
#include "command/machine_options.hpp"
#include "command/numbers.hpp"
#include "command/progress.hpp"
#include "command/why/why.hpp"
#include "command/why/why_between.hpp"
#include "command/why/why_measured.hpp"
#include "command/why/why_scatter.hpp"
#include "command/why/why_simulated.hpp"
#include "command/why/why_sparse.hpp"
#include "command/why/why_told.hpp"
#include "numa/binding.hpp"
#include "numa/share.hpp"
#include "planning/calibration/memory_facts.hpp"
#include "planning/choice/explain.hpp"
#include "planning/choice/rules/table.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

/// Hosts that share no memory, and what is between them.
struct asked_hosts {
  std::vector<rank_t> ranks;    ///< of each
  std::vector<double> network;  ///< us, us more for each further message, ns a byte
  std::string links;            ///< a file, instead of the ranks

  bool any() const { return !ranks.empty() || !links.empty(); }
  schedule::link messages() const {
    if (network.empty()) return choice::usual_network;
    return {UINT32_MAX, network[0] * 1e-6, network[2] * 1e-9, network[1] * 1e-6};
  }
};

/// A reducer's, by whichever collective it takes.
constexpr std::string_view reduction = "reduction";

verb asked_verb(std::string const& name) {
  if (name == reduction) return verb::reduce_shared;
  std::vector<std::string> known;
  for (verb const each : all_verbs()) known.emplace_back(name_of(each));
  if (std::ranges::find(known, name) != known.end()) return verb_named(name);
  known.insert(known.end(), {"scatter_add", std::string(reduction), "sparse_reduction"});
  throw argument_error(text::none_of(name, known));
}

/// How it is told, and whether two plans are measured.
struct shown {
  formats as;
  bool all = false, measures = false, simulates = false;
  std::vector<std::string> plans;  ///< algorithms; none: all
};

struct why_command {
  std::string verb_name = "allreduce", topology, place = "compact";
  std::uint64_t bytes = 8;
  rank_t ranks = 0;
  std::vector<rank_t> nodes;
  asked_hosts hosts;
  asked_scatter scatter;
  bool in_place = false, ordered = false;
  shown show;

  void run() {
    if (show.measures && (!on_this_machine() || place != "compact" || hosts.any() || verb_name == "exclusive_scan" ||
                          verb_name.find("scatter_add") == 0 || verb_name.find("reduction") != std::string::npos))
      throw argument_error(
          "--measure is for a collective, other than exclusive_scan, of compact ranks of this machine");
    if (show.simulates && (!nodes.empty() || hosts.any() || verb_name.find("scatter_add") == 0 ||
                           verb_name.find("reduction") != std::string::npos))
      throw argument_error("--simulate is for a collective on a machine: this one or one of --topology");
    if (verb_name == "scatter_add") return void(std::cout << why_scatter(scatter, ranks, show.as));
    if (verb_name == "sparse_reduction")
      return void(std::cout << why_sparse(scatter, hosts.ranks, seconds_of_byte_alone(), show.as));
    if (!hosts.network.empty() && !hosts.any())
      throw argument_error("--network is between hosts: give --hosts 4,4 or --links FILE");
    if (!hosts.links.empty()) return void(std::cout << why_on_links());
    if (!hosts.ranks.empty()) return void(std::cout << why_between(question_between(hosts.ranks), show.as, show.all));
    auto asked = question_asked();
    auto const rules = choice::table::of_this_machine();
    if (on_this_machine()) asked.memory.costs = rules.costs();
    auto const found = explained_soon(asked);
    auto const* const rule = rule_for(asked, rules);
    std::vector<priced_and_measured> measured;
    if (show.measures) measured = measure_first_two(asked, found);
    ordered_json simulated;
    if (show.simulates) simulated = simulate_on_machine(asked, found);
    if (show.as.is_table()) {
      std::cout << show.as.of(told_candidates(found, show.plans), why_title(asked));
    } else if (show.as.json) {
      auto text = why_json(asked, found, rule);
      if (show.measures) text["measured"] = coset::cli::json_of(measured);
      if (show.simulates) text["simulated"] = simulated;
      std::cout << text.dump(1) << '\n';
    } else {
      std::cout << why_text(asked, found, rule, show.plans, show.all) << (show.measures ? text_of(measured) : "")
                << (show.simulates ? text_of_simulated(simulated) : "");
    }
  }

  ordered_json answer() const {
    auto asked = question_asked();
    auto const rules = choice::table::of_this_machine();
    if (on_this_machine()) asked.memory.costs = rules.costs();
    return why_json(asked, explained_soon(asked), rule_for(asked, rules));
  }

 private:
  /// Without the schedules that take longer than some seconds to write out.
  static choice::explanation explained_soon(choice::question const& q) {
    progress shown;
    std::size_t number = 0;
    return choice::explain(
        q, [&](schedule::algorithm const& how, schedule::demand const& wanted, schedule::level_machine const& on) {
          shown.at(++number, 0, how.text());
          schedule::room_limit const soon(std::size_t{1} << 17);  // 362 ranks that own a block each
          return schedule::count_proved(how, wanted, on);
        });
  }

  double seconds_of_byte_alone() const {
    if (!hosts.network.empty() && (hosts.network[0] != 0 || hosts.network[1] != 0))
      throw argument_error("why sparse_reduction: it prices bytes, not messages: --network 0,0,NS, ns a byte");
    return hosts.messages().per_byte;
  }
  ordered_json simulate_on_machine(choice::question asked, choice::explanation const& found) const {
    auto const machine = topology.empty() ? this_machine() : machine_named(topology);
    auto const places = place_on(machine, placement_named(place), topology.empty(), asked);
    return simulate_first_two(machine, places, asked, found);
  }
  bool on_this_machine() const { return topology.empty() && nodes.empty(); }

  calibration::rule const* rule_for(choice::question const& q, choice::table const& rules) const {
    if (!on_this_machine()) return nullptr;
    return rules.find(q.what, q.ranks, q.bytes, detail::folds_for_all(q.what) && q.in_place);
  }

  choice::question question_between(std::vector<rank_t> const& ranks_of_hosts) const {
    choice::question q{.what = asked_verb(verb_name), .bytes = bytes, .in_place = in_place};
    // As reducers do: processes of one rank share nothing.
    if (verb_name == reduction && std::ranges::count(ranks_of_hosts, 1u) == std::ssize(ranks_of_hosts))
      q.what = verb::allreduce;
    q.commutative = !ordered;
    if (detail::is_barrier(q.what)) q.bytes = 0;
    q.hosts.ranks = ranks_of_hosts;
    auto const sum = std::accumulate(ranks_of_hosts.begin(), ranks_of_hosts.end(), std::uint64_t{0});
    constexpr std::uint64_t most = 1 << 20;
    if (sum > most) throw argument_error(fmt::format("the hosts hold {} ranks, more than {}", sum, most));
    q.ranks = static_cast<rank_t>(sum);
    if (ranks != 0 && q.ranks != ranks)
      throw argument_error(fmt::format("the hosts hold {} ranks, not {}; leave --ranks out", q.ranks, ranks));
    q.hosts.network = hosts.messages();
    return q;
  }

  /// Of the hosts that the file has. Links that it gives no bandwidth have that of --network.
  std::string why_on_links() const {
    auto const read = schedule::read_network(hosts.links, {0, hosts.messages().per_byte});
    auto const facts = hosts_of(read, hosts.links);
    auto q = question_between(facts.ranks);
    q.hosts.switches = facts.switches;
    auto const of_hosts = read.links.with_one_rank_a_place();
    return why_between(q, show.as, show.all, &of_hosts);
  }

  choice::question question_asked() const {
    choice::question q{.what = asked_verb(verb_name), .bytes = bytes, .in_place = in_place};
    q.commutative = !ordered;
    if (detail::is_barrier(q.what)) q.bytes = 0;
    q.ranks = ranks;
    if (nodes.empty())
      place_on(topology.empty() ? this_machine() : machine_named(topology), placement_named(place), topology.empty(),
               q);
    else
      place_on_nodes(q);
    return q;
  }

  void place_on_nodes(choice::question& q) const {
    auto const sum = std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0});
    if (ranks != 0 && sum != ranks)
      throw argument_error(fmt::format("the nodes hold {} ranks, not {}; leave --ranks out", sum, ranks));
    constexpr std::uint64_t most = 4096;  // every schedule of so many takes seconds to make
    if (sum > most) throw argument_error(fmt::format("the nodes hold {} ranks, more than {}", sum, most));
    q.ranks = static_cast<rank_t>(sum);
    std::vector<processor> places;
    for (unsigned node = 0; node < nodes.size(); ++node) {
      for (rank_t r = 0; r < nodes[node]; ++r) {
        auto const number = static_cast<unsigned>(places.size());
        places.push_back({.os_index = number, .core = number, .l2 = number, .l3 = node, .node = node});
      }
    }
    choice::put_on_levels(q, places);
  }
};

/// Loops and sparse reductions are priced by these options alone.
void refuse_what_is_ignored(CLI::App const& why, std::string const& what) {
  std::vector<std::string_view> heard{"--length", "--updates", "--element-bytes", "--window",
                                      "--keys",   "--json",    "--csv",           "--html"};
  if (what == "scatter_add")
    heard.insert(heard.end(), {"--ranks", "--value-bytes", "--most-bytes"});
  else if (what == "sparse_reduction")
    heard.insert(heard.end(), {"--hosts", "--network"});
  else
    return;
  for (CLI::Option const* const option : why.get_options())
    if (auto const name = option->get_name();
        option->count() > 0 && name != "collective" && !std::ranges::count(heard, name))
      throw argument_error(fmt::format("why {}: {} changes nothing; leave it out", what, name));
}

}  // namespace

std::vector<processor> place_on(topology const& machine, placement how, bool is_here, choice::question& q) {
  if (q.ranks == 0) q.ranks = machine.cores();
  require_room_for(q.ranks, machine);
  auto places = numa::place_or_share(machine, q.ranks, how);
  q.crowded = q.ranks > (is_here ? numa::usable_processors() : machine.processors.size());
  choice::put_on_levels(q, places);
  q.memory = calibration::told_of(machine);
  return places;
}

nlohmann::ordered_json why_here(std::string const& verb, std::uint64_t bytes, rank_t ranks, bool in_place) {
  why_command asked;
  asked.verb_name = verb;
  asked.bytes = bytes;
  asked.ranks = ranks;
  asked.in_place = in_place;
  return asked.answer();
}

void add_why(CLI::App& app) {
  auto const state = std::make_shared<why_command>();
  auto& why = *app.add_subcommand("why", "Show why a call gets its plan: every candidate, priced term by term");
  why.add_option("collective", state->verb_name,
                 "What the ranks compute; or scatter_add, a loop that adds into an array; or reduction, a reducer's of "
                 "a team; or "
                 "sparse_reduction, the same of an array of which the threads of --hosts touch little")
      ->capture_default_str();
  why.add_option("size", state->bytes, "Size of the vector; K, M and G are powers of 1024")
      ->transform(byte_size())
      ->capture_default_str();
  add_ranks(why, state->ranks, "How many ranks take part; default: one per core");
  auto* const topology =
      why.add_option("--topology", state->topology,
                     "Another machine: a file of hwloc's XML or a synthetic description like \"node:2 core:4 pu:1\"");
  add_place(why, state->place);
  why.add_option("--nodes", state->nodes, "Instead of a machine, the ranks of each node, 5,2,4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, most_ranks))
      ->excludes(topology);
  why.add_option("--hosts", state->hosts.ranks, "Several hosts that share no memory: the ranks of each, 2,2,2,2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, most_ranks))
      ->excludes(topology)
      ->excludes("--nodes");
  why.add_option(
         "--links", state->hosts.links,
         "Instead of --hosts, a file of the links between them, as `coset cost --links` takes it: hosts are places "
         "with ranks. Says also what each plan takes where messages share these links")
      ->excludes(topology)
      ->excludes("--nodes")
      ->excludes("--hosts");
  why.add_option("--network", state->hosts.network,
                 "What messages between hosts take: us, us more for each further one, ns a byte; default: 20,3,1")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->expected(3)
      ->check(CLI::Validator(
          [](std::string& text) {
            return seconds_in(text) ? std::string() : fmt::format("'{}' is not a number from 0 to 1e9", text);
          },
          ""));
  add_scatter_options(why, state->scatter);
  why.add_flag("--in-place", state->in_place, "Input and output are the same array");
  why.add_flag("--ordered", state->ordered, "Keep rank order, for non-commutative operations");
  why.add_option("--plan", state->show.plans, "Show what this algorithm would cost beside the chosen plan; repeatable")
      ->allow_extra_args(false);
  why.add_flag("--measure", state->show.measures,
               "Also measure the chosen plan and the runner-up on this machine, beside what is expected of them: what "
               "they add to cycles in which inputs are rewritten and results read, these cycles, and calls alone");
  why.add_flag("--simulate", state->show.simulates,
               "Also simulate the caches of the machine, this one or that of --topology, under the chosen plan and the "
               "runner-up");
  why.add_flag("--all", state->show.all, "Show all candidates, not only the cheapest");
  state->show.as.add_to(why, "As CSV, a line for each candidate");
  why.callback([state, &why] {
    refuse_what_is_ignored(why, state->verb_name);
    state->run();
  });
}

}  // namespace coset::cli
