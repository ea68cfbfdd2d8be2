// SPDX-License-Identifier: Apache-2.0
// P. Patarasuk, X. Yuan: Bandwidth Efficient All-reduce Operation on Tree Topologies. Messages share the links of switches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "command/shown/networks/link_traffic.hpp"
#include "lab/generate/generate_c.hpp"
#include "lab/reproduce/checks.hpp"
#include "lab/reproduce/pricing.hpp"
#include "planning/schedule/core/validate.hpp"

namespace coset::cli::reproduction {
namespace {

constexpr rank_t tree_hosts = 32;
/// Gigabit Ethernet: 50 µs a message, 1 Gb/s each way.
constexpr flat_costs gigabit{.alpha = 5e-5, .beta = 8e-9, .gamma = 2e-10};

/// Four switches of eight hosts, in a star around a fifth or in a chain; hosts are numbered along the switches, or in turn.
std::string switches_in_json(bool chain, bool in_turn) {
  std::string text = chain ? "" : R"("top": ["s0", "s1", "s2", "s3"], )";
  for (rank_t s = 0; s < 4; ++s) {
    std::vector<std::string> children;
    for (rank_t host = 0; host < tree_hosts; ++host)
      if ((in_turn ? host % 4 : host / 8) == s) children.push_back(std::to_string(host));
    if (chain && s < 3) children.push_back(fmt::format("\"s{}\"", s + 1));
    text += fmt::format("{}\"s{}\": [{}]", s == 0 ? "" : ", ", s, fmt::join(children, ", "));
  }
  return "{\"tree\": {" + text + "}}";
}

schedule::tree switches_of(bool chain, bool in_turn) {
  std::istringstream text(switches_in_json(chain, in_turn));
  return schedule::parse_tree(text, "tree");
}

auto times_on_switches(bool chain) {
  return [=](pricing& by) {
    std::vector<point> points;
    auto const sizes = sizes_between(8 << 10, 1 << 20);
    auto const costs = by.costs(gigabit);
    for (bool const in_turn : {false, true}) {
      std::istringstream text(switches_in_json(chain, in_turn));
      auto const tree = switches_of(chain, in_turn);
      auto const on =
          cost_settings::of_network(schedule::parse_network(text, "tree", {0, costs.beta}), "tree", "", costs)
              .of(tree_hosts);
      auto const add = [&](char const* curve, char const* algorithm, char const* simulated_as,
                           schedule::schedule const& made) {
        add_times(points,
                  {.setting = in_turn ? "hosts in turn" : "hosts by switch",
                   .curve = curve,
                   .ranks = tree_hosts,
                   .algorithm = algorithm,
                   .mapping = in_turn ? "in turn" : "block",
                   .simulated_as = simulated_as},
                  on.count(made), sizes);
      };
      add("tree ring", "tree_ring(nodes=8+8+8+8)", "", schedule::tree_ring(tree));
      add("MPICH", "recursive_halving", "simgrid:mpich", schedule::make({"recursive_halving", {}}, tree_hosts));
      add("LAM", "binomial", "", schedule::make({"binomial", {}}, tree_hosts));
    }
    return points;
  };
}

/// What a message costs on the network of the multiprocessors: as on that of the switches, or little.
constexpr double usual_message = 5e-5, quick_message = 2e-6;

std::string per_message(double seconds) { return fmt::format("{:g} µs a message", seconds * 1e6); }

std::vector<point> times_on_multiprocessors(pricing& by) {
  std::vector<point> points;
  for (double const message : {usual_message, quick_message})
    for (rank_t const cores : {2u, 4u})
      for (rank_t const hosts : {16u, 32u, 64u}) {
        std::vector<rank_t> const nodes(hosts, cores);
        auto costs = gigabit;
        costs.alpha = message;
        auto const on = cost_settings::of_nodes(nodes, by.costs(costs)).of(hosts * cores);
        for (auto const& [curve, algorithm] :
             {std::pair{"tree ring", "tree_ring"}, {"SMP-rdb", "smp_rdb"}, {"SMP-binomial", "smp_binomial"}}) {
          schedule::algorithm const how{algorithm, {{"nodes", schedule::value_of(nodes, '+')}}};
          add_times(points,
                    {.setting = fmt::format("hosts of {}, {}", cores, per_message(message)),
                     .curve = curve,
                     .ranks = hosts * cores,
                     .algorithm = how.text(),
                     .mapping = message == usual_message ? "block" : "",
                     .simulated_as = fmt::format("simgrid:{}", algorithm)},
                    on.count(schedule::make(how, hosts * cores)), sizes_between(1 << 10, 4 << 20));
        }
      }
  return points;
}

figure tree_figure(std::string name, bool chain, double claimed) {
  std::vector<std::string> const rivals{"MPICH", "LAM"};
  where const in_turn{.setting = "hosts in turn"}, by_switch{.setting = "hosts by switch"};
  std::string const above = fmt::format("above {:g} KB", claimed / 1024);
  std::string const contention = "others suffer of it, the ring along the tree does not";
  auto const ahead = [&](where const& in) {
    return ahead_above(
        "tree ring", rivals, [=](rank_t) { return claimed; }, in);
  };
  return {
      .source = "patarasuk",
      .name = std::move(name),
      .title = chain ? "four switches of eight hosts in a chain" : "four switches of eight hosts around a fifth",
      .usual = gigabit,
      .experiment = chain ? "patarasuk-chain" : "patarasuk-star",
      .draw = times_on_switches(chain),
      .claims = {
          {"best of all, hosts numbered in turn over the switches", above, ahead(in_turn)},
          {"best of all, hosts numbered switch by switch", above, ahead(by_switch)},
          {"contention, hosts in turn", contention, alone_without_contention("tree ring", rivals, in_turn)},
          {"contention, switch by switch", contention, alone_without_contention("tree ring", rivals, by_switch),
           "a binomial tree over hosts that are numbered so sends one message a step over each edge; how the source's "
           "hosts were numbered is not known here"}}};
}

std::string exception_of_lemmas(bool total) {
  for (rank_t ranks = 2; ranks <= 64; ++ranks) {
    auto const made = schedule::tree_ring(schedule::two_level_tree({ranks}));
    auto const found = schedule::validate(made);
    schedule::fraction const part(2 * (std::int64_t{ranks} - 1), ranks);
    auto const all = schedule::counts(made, schedule::cost_model::ten_gigabit()).volumes().front().total;
    if (total ? all != part * ranks : found.sent_max != part || found.received_max != part)
      return fmt::format("{} ranks: {} vectors in all, {} sent by one, {} received", ranks, all.text(),
                         found.sent_max.text(), found.received_max.text());
  }
  return "";
}

/// The first of some trees with an edge that two messages cross in one direction in one step.
std::string exception_of_meetings() {
  for (bool const chain : {false, true})
    for (bool const in_turn : {false, true}) {
      auto const tree = switches_of(chain, in_turn);
      if (auto const most = schedule::busiest_edge(schedule::tree_ring(tree), tree); most != 1)
        return fmt::format("{} messages meet", most);
    }
  return "";
}

figure lemmas() {
  return {.source = "patarasuk",
          .name = "lemmas",
          .title = "counts",
          .claims = {for_all("Lemma 1: all ranks together send 2(N−1) vectors", "the least there is", "2 to 64 ranks",
                             [] { return exception_of_lemmas(true); }),
                     for_all("Lemma 2: each rank sends, and receives, 2(N−1)/N vectors", "the least there is",
                             "2 to 64 ranks", [] { return exception_of_lemmas(false); }),
                     for_all("messages that cross an edge in one direction in one step", "one at most", "both trees",
                             exception_of_meetings)}};
}

figure routine() {
  return {.source = "patarasuk",
          .name = "routine",
          .title = "the generated routine: coset generate tree_ring --tree FILE",
          .claims = {for_all("a routine over MPI is generated from the tree", "by their generator", "both trees",
                             []() -> std::string {
                               for (bool const chain : {false, true}) {
                                 auto const text = schedule::tree_ring_routine(switches_of(chain, false));
                                 if (text.find("int tree_ring_allreduce(") == std::string::npos) return "none";
                               }
                               return "";
                             })}};
}

figure multiprocessors() {
  auto const ahead = [](double message) {
    return ahead_above("tree ring", {"SMP-rdb", "SMP-binomial"}, [](rank_t ranks) { return 256.0 * ranks; },
                       {.setting = ", " + per_message(message)});
  };
  return {.source = "patarasuk",
          .name = "smp",
          .title = "16, 32 and 64 hosts of 2 and 4 ranks",
          .usual = gigabit,
          .experiment = "patarasuk-smp",
          .draw = times_on_multiprocessors,
          .claims = {{"best of all, on the network of the switches", "from about 256 B × P", ahead(usual_message),
                      "2(P−1) steps of 50 µs are 3 ms on 32 ranks; the claim wants a message's latency to be less than "
                      "that of some 600 bytes, and the network of these clusters is not known here"},
                     {"the same at 2 µs a message", "from about 256 B × P", ahead(quick_message)}}};
}

}  // namespace

source patarasuk_source() {
  return {"patarasuk",
          "P. Patarasuk, X. Yuan: Bandwidth Efficient All-reduce Operation on Tree Topologies",
          {tree_figure("tree1", false, 256 << 10), tree_figure("tree2", true, 128 << 10), multiprocessors(), lemmas(),
           routine()}};
}

}  // namespace coset::cli::reproduction
