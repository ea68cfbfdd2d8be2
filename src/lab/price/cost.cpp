// SPDX-License-Identifier: Apache-2.0
// `coset cost`: the time of every algorithm under a model of the machine.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string_view>

#include "base/text/file.hpp"
#include "command/formats.hpp"
#include "command/inspect/schedule_options.hpp"
#include "command/lab.hpp"
#include "command/machine_options.hpp"
#include "command/numbers.hpp"
#include "command/output.hpp"
#include "command/shown/networks/link_traffic.hpp"
#include "command/shown/selector.hpp"
#include "lab/commands.hpp"
#include "lab/price/comparison.hpp"
#include "lab/price/cost_machine.hpp"
#include "lab/price/cost_setting.hpp"
#include "lab/price/machine_model.hpp"
#include "lab/price/soon.hpp"
#include "planning/schedule/core/required.hpp"

namespace coset::cli {
namespace {

/// What stands side by side.
struct compared_things {
  std::vector<std::string> algorithms, plan_files;
  std::vector<rank_t> ranks;         // none: what the model has
  std::vector<std::uint64_t> bytes;  // none: 8
};

/// The call, and what its operation allows.
struct wanted_call {
  std::string first;  // argument: a verb, or an algorithm in the form that goes away
  std::string collective = "allreduce";
  bool collective_given = false;
  rank_t root = 0;
  bool per_rank_bits = false, ordered = false;
};

struct cost_command {
  compared_things what;
  wanted_call call;
  formats as_what;
  std::string plot;
  std::vector<rank_t> nodes;
  std::string links;
  flat_costs costs;
  bool gamma_given = false;
  machine_request machine;

  void run() {
    if (what.bytes.empty()) what.bytes = {8};
    if (!machine.topology.empty() && !asks_more()) return print_on_machine();
    compare_all();
  }

 private:
  /// Than all algorithms at one size on one number of ranks, of which --topology has a table of its own.
  bool asks_more() const {
    return !what.algorithms.empty() || !what.plan_files.empty() || what.ranks.size() > 1 || what.bytes.size() > 1 ||
           as_what.is_table() || !plot.empty();
  }

  cost_settings model() const {
    if (!machine.topology.empty())
      return cost_settings::of_machine(machine_named(machine.topology), placement_named(machine.place), machine.set,
                                       gamma_given ? std::optional(costs.gamma) : std::nullopt);
    if (!links.empty()) return cost_settings::of_links(links, costs);
    return nodes.empty() ? cost_settings::flat(costs) : cost_settings::of_nodes(nodes, costs);
  }

  schedule::demand wanted(rank_t number) const {
    return {
        schedule::scheduled_verb(call.collective), number, call.root, !call.per_rank_bits, !call.ordered, false, nodes};
  }

  void print_on_machine() const {
    machine_request request = machine;
    request.wanted = wanted(what.ranks.empty() ? 0 : what.ranks.front());
    if (gamma_given) request.gamma = costs.gamma;
    request.bytes = what.bytes.front();
    request.json = as_what.json;
    print_costs_on_machine(std::cout, request);
  }

  void compare_all() {
    auto const settings = model();
    comparison_request request{{}, {}, what.ranks, what.bytes, {}};
    for (auto const& text : what.algorithms)
      if (text.ends_with(".json"))
        what.plan_files.push_back(text);
      else
        request.algorithms.push_back(schedule::algorithm::parse(text));
    for (auto const& name : what.plan_files) request.plans.push_back({name, read_proved(name)});
    if (!call.collective_given && !request.plans.empty()) call.collective = name_of(request.plans.front().plan.verb);
    request.wanted = wanted(0);
    for (auto const& [name, plan] : request.plans) {
      if (plan.verb != request.wanted.verb)
        throw schedule_error(
            fmt::format("{} is a plan of {}, and {} is compared", name, name_of(plan.verb), call.collective));
      if (what.ranks.empty() && std::ranges::find(request.ranks, plan.ranks) == request.ranks.end())
        request.ranks.push_back(plan.ranks);
      if (!what.ranks.empty() && std::ranges::find(what.ranks, plan.ranks) == what.ranks.end())
        throw schedule_error(fmt::format("{} is a plan for {} ranks", name, plan.ranks));
    }
    if (request.ranks.empty()) request.ranks = {settings.usual_ranks()};
    auto const found = compare(request, settings, std::cerr);
    if (!plot.empty()) draw(picture_of(found), plot);
    if (as_what.json)
      std::cout << found.as_json();
    else
      std::cout << (as_what.is_text() ? found.as_text() + estimate(found)
                                      : as_what.of(found.as_table(), found.title()));
  }

  /// Beside all that are tried where all links cost the same.
  std::string estimate(comparison const& of) const {
    if (asks_more() || !links.empty()) return "";
    auto const flat = schedule::cost_model::flat(costs.alpha, costs.beta, costs.gamma);
    return fmt::format("saved_steps that the closed formula estimates for radix 2: {}\n",
                       schedule::saved_steps(flat, of.rows.front().ranks, static_cast<double>(of.rows.front().bytes)));
  }

  static schedule::schedule read_proved(std::string const& name) {
    std::istringstream file(text::content_of<schedule_error>(name, name));
    auto read = schedule::read_plan(file, name).plan;
    try {
      schedule::validate(read);
    } catch (schedule_error const& violation) {
      std::cerr << fmt::format("wrong: {}: {}\n", name, violation.what());
      throw CLI::RuntimeError(1);
    }
    return read;
  }
};

/// Before they are numbers.
struct cost_texts {
  std::vector<std::string> ranks, sizes, old_sizes;
};

CLI::Validator part_of_one() {
  auto const check = [](std::string& text) {
    auto const number = seconds_in(text);
    return number && *number <= 1 ? std::string() : fmt::format("'{}' is not a number from 0 to 1", text);
  };
  return {check, ""};
}

/// Appends "4", or all of "2-16".
void append_ranks(std::vector<std::string> const& texts, std::vector<rank_t>& to) {
  constexpr std::size_t most = 1000;
  for (std::string const& text : texts) {
    auto const dash = text.find('-');
    auto const first = whole_number_in(std::string_view(text).substr(0, dash));
    auto const last = dash == std::string::npos ? first : whole_number_in(std::string_view(text).substr(dash + 1));
    if (!first || !last || *first == 0 || *last > most_ranks || *first > *last || *last - *first >= most)
      throw CLI::ValidationError(
          "--ranks", fmt::format("'{}' is not a whole number from 1 to {}, nor a range like 2-16", text, most_ranks));
    for (auto number = *first; number <= *last; ++number) to.push_back(static_cast<rank_t>(number));
  }
}

/// Appends "64K", or "1K-1M" in powers of two.
void append_sizes(std::vector<std::string> const& texts, std::vector<std::uint64_t>& to) {
  for (std::string const& text : texts) {
    auto const dash = text.find('-');
    auto const first = byte_size_in(std::string_view(text).substr(0, dash));
    auto const last = dash == std::string::npos ? first : byte_size_in(std::string_view(text).substr(dash + 1));
    if (!first || !last || *first == 0 || *first > *last)
      throw CLI::ValidationError(
          "--bytes", fmt::format("'{}' is not a size from 1 to 1024T, nor a range like 1K-1M; K, M, G and T are powers "
                                 "of 1024",
                                 text));
    for (auto size = *first; size <= *last; size *= 2) to.push_back(size);
  }
}

/// The verb and the sizes, whichever form they have.
void read_call(cost_command& command, cost_texts& texts, bool collective_given) {
  auto& call = command.call;
  bool const has_verb = !call.first.empty() && names_verb(call.first);
  if (!call.first.empty() && !has_verb) {
    auto& algorithms = command.what.algorithms;
    algorithms.insert(algorithms.begin(), texts.sizes.begin(), texts.sizes.end());
    algorithms.insert(algorithms.begin(), call.first);
    texts.sizes.clear();
  }
  if (has_verb && collective_given && call.collective != call.first)
    throw argument_error(fmt::format("{} and --collective {}: say one", call.first, call.collective));
  if (has_verb) call.collective = call.first;
  call.collective_given = has_verb || collective_given;
  texts.sizes.insert(texts.sizes.end(), texts.old_sizes.begin(), texts.old_sizes.end());
  if (collective_given || !texts.old_sizes.empty() || (!call.first.empty() && !has_verb))
    note_old_form("cost", call.collective, texts.sizes, command.what.algorithms);
  append_sizes(texts.sizes, command.what.bytes);
}

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
          "per byte of all ranks of a group together (link), and what part of beta a byte costs whom it is read from "
          "(fan, 0 to 1), like node.beta=1e-10; repeatable. Defaults: " +
              default_settings())
      ->allow_extra_args(false)
      ->needs(topology);
}

}  // namespace

void add_cost(CLI::App& app) {
  auto const command = add_lab_command(app, "cost");
  auto const state = std::make_shared<cost_command>();
  auto const texts = std::make_shared<cost_texts>();
  command->add_option("verb", state->call.first, "What the ranks compute; default: allreduce");
  command->add_option("sizes", texts->sizes,
                      "Sizes of the vector: 64K, several, or powers of two like 1K-1M; K, M and G are powers of 1024. "
                      "Default: 8");
  command
      ->add_option("--plan", state->what.algorithms,
                   std::string(algorithm_help) +
                       "; repeatable; default: all algorithms. With nodes or a tree, these need "
                       "not be repeated as parameters. blocks=best is as many blocks as are best "
                       "for each size")
      ->allow_extra_args(false);
  command
      ->add_option("-t,-r,--ranks", texts->ranks,
                   "How many ranks take part: 8, several like 4,8,16, or a range like 2-16; default: 8, or what plans, "
                   "nodes and links have, or one per core")
      ->allow_extra_args(false)
      ->delimiter(',');
  command->add_option("-b,--bytes", texts->old_sizes, "The sizes, in a form that goes away")
      ->allow_extra_args(false)
      ->delimiter(',');
  auto* const nodes = command
                          ->add_option("--nodes", state->nodes,
                                       "Ranks of each node, 5,2,4, which share the node's link: adds algorithms that "
                                       "work node by node, and what "
                                       "the busiest link of a node carries in one direction, in vectors")
                          ->allow_extra_args(false)
                          ->delimiter(',')
                          ->check(whole_number(1, most_ranks));
  command
      ->add_option("--inside", state->costs.inside,
                   "With --nodes, what alpha and beta are inside a node, as a part of those between nodes")
      ->check(part_of_one())
      ->capture_default_str()
      ->needs(nodes);
  auto* const links = command->add_option(
      "--links", state->links,
      "A file of shared links: a tree, torus, mesh, dragonfly or graph, as docs/scale.md describes. All that crosses a "
      "link in one step shares it; links without a bandwidth take beta");
  auto* const collective =
      command->add_option("-c,--collective", state->call.collective, "What the ranks compute")->capture_default_str();
  command->add_option("--root", state->call.root, "The root of reduce and broadcast")
      ->check(whole_number(0, most_ranks))
      ->capture_default_str();
  command->add_flag("--per-rank-bits", state->call.per_rank_bits, "Bits may differ between ranks");
  command->add_flag("--ordered", state->call.ordered, "Keep rank order, for non-commutative operations");
  auto* const alpha =
      command->add_option("--alpha", state->costs.alpha, "Seconds per step")->capture_default_str()->check(seconds());
  auto* const beta = command->add_option("--beta", state->costs.beta, "Seconds per byte sent")
                         ->capture_default_str()
                         ->check(seconds());
  auto* const gamma =
      command->add_option("--gamma", state->costs.gamma, "Seconds per byte combined; 1e-11 with --topology")
          ->capture_default_str()
          ->check(seconds());
  links->excludes(nodes);
  add_machine_options(*command, state->machine, {nodes, links, alpha, beta});
  state->as_what.add_to(*command, "As CSV, a line for each algorithm, number of ranks and size");
  command->add_option("--plot", state->plot,
                      "Also draw microseconds over bytes, or over ranks for one size, to this SVG file, by gnuplot; a "
                      "name that ends in .gp gets gnuplot's script. Of more than eight algorithms, those that are "
                      "fastest somewhere");
  command->callback([state, texts, gamma, collective] {
    append_ranks(texts->ranks, state->what.ranks);
    read_call(*state, *texts, !collective->empty());
    state->gamma_given = !gamma->empty();
    state->run();
  });
}

}  // namespace coset::cli
