// SPDX-License-Identifier: Apache-2.0
// `coset cost`: the time of every algorithm under a model of the machine.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "cli/commands.hpp"
#include "cli/machine_options.hpp"
#include "cli/numbers.hpp"
#include "cli/price/cost_figures.hpp"
#include "cli/price/cost_machine.hpp"
#include "cli/price/machine_model.hpp"
#include "schedule/core/required.hpp"
#include "schedule/model/selector.hpp"
#include "study/link_traffic.hpp"

namespace coset::cli {
namespace {

/// The node of each rank, from the ranks of each node.
std::vector<rank_t> node_of_ranks(std::vector<rank_t> const& nodes) {
  std::vector<rank_t> all;
  for (rank_t n = 0; n < nodes.size(); ++n) all.insert(all.end(), nodes[n], n);
  return all;
}

/// Seconds for a step, for a byte that moves and for a byte that is combined.
struct flat_costs {
  double alpha = 3e-5, beta = 1e-8, gamma = 2e-10;
  bool gamma_given = false;
};

struct cost_command {
  int figure = 0;
  std::string collective = "allreduce";
  rank_t ranks = 8, root = 0;
  std::uint64_t bytes = 8;
  std::vector<rank_t> nodes;
  bool per_rank_bits = false, ordered = false;
  flat_costs costs;
  machine_request machine;
  bool ranks_given = false;

  void run() {
    if (!machine.topology.empty()) return print_on_machine();
    if (!nodes.empty()) count_ranks();
    auto const model = schedule::cost_model::flat(costs.alpha, costs.beta, costs.gamma);
    if (figure != 0)
      print_figure(std::cout, figure, model);
    else
      print_candidates(model);
  }

  void count_ranks() {
    auto const sum = std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0});
    if (ranks_given && sum != ranks)
      throw schedule_error(fmt::format("the nodes hold {} ranks, not {}; leave --ranks out", sum, ranks));
    ranks = static_cast<rank_t>(std::min<std::uint64_t>(sum, UINT32_MAX));
  }

  schedule::demand wanted() const {
    return {schedule::collective_of(collective), ranks, root, !per_rank_bits, !ordered, false, nodes};
  }

  void print_on_machine() const {
    machine_request request = machine;
    request.wanted = wanted();
    if (!ranks_given) request.wanted.ranks = 0;
    if (costs.gamma_given) request.gamma = costs.gamma;
    request.bytes = bytes;
    print_costs_on_machine(std::cout, request);
  }

  /// The load of a node's busiest link in one direction, in vectors.
  std::string busiest_link(schedule::algorithm const& how) const {
    if (nodes.empty()) return "";
    schedule::fraction busiest = 0;
    auto const made = schedule::make(how, ranks, schedule::collective_of(collective), root);
    for (auto const& [out, in] : schedule::host_traffic(made, node_of_ranks(nodes)))
      busiest = std::max({busiest, out, in});
    return fmt::format("{:>10}  ", busiest.text());
  }

  void print_candidates(schedule::cost_model const& model) const {
    schedule::require_room(ranks, 1);  // before arrays by rank are allocated
    schedule::selector const all(wanted(), model);
    auto const order = all.rank(static_cast<double>(bytes));
    std::cout << fmt::format("{} of {} bytes on {} ranks; alpha {:g} s, beta {:g} s/B, gamma {:g} s/B\n", collective,
                             bytes, ranks, costs.alpha, costs.beta, costs.gamma);
    std::cout << fmt::format("{:>12}  {:>6}  {:>5}  {:>10}  {:>10}  {}{:<6}  {:<5}  {}\n", "microseconds", "ratio",
                             "steps", "received", "combined", nodes.empty() ? "" : " node link  ", "bits", "order",
                             "algorithm");
    for (auto const& [one, seconds] : order)
      std::cout << fmt::format("{:>12.2f}  {:>6.2f}  {:>5}  {:>10}  {:>10}  {}{:<6}  {:<5}  {}\n", seconds * 1e6,
                               seconds / order.front().seconds, one->found.steps, one->found.received_max.text(),
                               one->found.combined_max.text(), busiest_link(one->how),
                               one->found.rank_uniform ? "same" : "differ", one->found.ordered ? "yes" : "no",
                               one->how.text());
    std::cout << fmt::format("saved_steps that the closed formula estimates for radix 2: {}\n",
                             schedule::saved_steps(model, ranks, static_cast<double>(bytes)));
  }
};

void add_machine_options(CLI::App& command, machine_request& machine, std::vector<CLI::Option*> const& others) {
  auto* const topology = command.add_option(
      "--topology", machine.topology,
      "The machine, with the bytes that cross each level: a file of hwloc's XML, a synthetic description like "
      "\"node:2 core:4 pu:1\", or \"machine\"");
  for (auto* const other : others) topology->excludes(other);
  add_place(command, machine.place)->needs(topology);
  command
      .add_option(
          "--set", machine.set,
          "With --topology, a level's seconds per step (alpha), per peer (lambda), per byte of a rank (beta) or "
          "per byte of all ranks of a group together (link), like node.beta=1e-10; repeatable. Defaults: " +
              default_settings())
      ->allow_extra_args(false)
      ->needs(topology);
  command.add_flag("--json", machine.json, "With --topology, as JSON")->needs(topology);
}

}  // namespace

void add_cost(CLI::App& app) {
  auto const command = app.add_subcommand("cost", "Compare the algorithms under a latency and bandwidth model");
  auto const state = std::make_shared<cost_command>();
  auto* const ranks =
      add_ranks(*command, state->ranks, "How many ranks take part; default with --topology: one per core")
          ->capture_default_str();
  auto* const nodes =
      command
          ->add_option(
              "--nodes", state->nodes,
              "Ranks of each node, 5,2,4: adds algorithms that work node by node, and what the busiest link of a "
              "node carries in one direction, in vectors")
          ->delimiter(',')
          ->check(whole_number(1, most_ranks));
  command->add_option("-b,--bytes", state->bytes, "Size of the vector; K, M and G are powers of 1024")
      ->transform(byte_size())
      ->capture_default_str();
  command->add_option("-c,--collective", state->collective, "What the ranks compute")->capture_default_str();
  command->add_option("--root", state->root, "The root of reduce and broadcast")
      ->check(whole_number(0, most_ranks))
      ->capture_default_str();
  command->add_flag("--per-rank-bits", state->per_rank_bits, "Bits may differ between ranks");
  command->add_flag("--ordered", state->ordered, "Keep rank order, for non-commutative operations");
  auto* const alpha =
      command->add_option("--alpha", state->costs.alpha, "Seconds per step")->capture_default_str()->check(seconds());
  auto* const beta = command->add_option("--beta", state->costs.beta, "Seconds per byte sent")
                         ->capture_default_str()
                         ->check(seconds());
  auto* const gamma =
      command->add_option("--gamma", state->costs.gamma, "Seconds per byte combined; 1e-11 with --topology")
          ->capture_default_str()
          ->check(seconds());
  auto* const figure =
      command
          ->add_option("--figure", state->figure,
                       "Instead, reproduce a comparison of Kolmakov and Zhang's paper: 1, 7, 8, 9, 10, 11 or 12")
          ->check(whole_number(1, 99));
  figure->excludes(nodes);
  add_machine_options(*command, state->machine, {nodes, alpha, beta, figure});
  command->callback([state, ranks, gamma] {
    state->ranks_given = !ranks->empty();
    state->costs.gamma_given = !gamma->empty();
    state->run();
  });
}

}  // namespace coset::cli
