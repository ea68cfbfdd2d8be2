// SPDX-License-Identifier: Apache-2.0
// `coset simulate`: the caches of a machine that one need not have, under the plans of a call.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/file.hpp"
#include "command/formats.hpp"
#include "command/lab.hpp"
#include "command/machine_options.hpp"
#include "command/measure/references/compositions.hpp"
#include "command/numbers.hpp"
#include "command/why/why.hpp"
#include "lab/commands.hpp"
#include "lab/simulate/guidelines.hpp"
#include "lab/simulate/plans.hpp"
#include "lab/simulate/tables.hpp"

namespace coset::cli {
namespace {

struct simulate_command {
  std::string verb_name = "allreduce", place = "compact", timed = "cycle", costs_file;
  std::vector<std::string> topologies, settings, plans;
  std::vector<std::uint64_t> sizes{8, 1024, 64 * 1024, 1024 * 1024};
  rank_t ranks = 0;
  std::size_t considered = 8;
  bool in_place = false;
  struct {
    bool all = false, judges = false;
    formats as;
  } output;

  void run() {
    if (topologies.empty()) topologies.push_back("machine");
    if (output.judges) return judge();
    auto results = nlohmann::ordered_json::array();
    auto plans_of_all = all_plans();
    for (std::string const& topology : topologies) {
      auto const made = simulated_on(topology);
      if (output.as.json)
        results.push_back(as_json(made));
      else if (output.as.is_table())
        add(made, plans_of_all);
      else
        std::cout << (&topology == &topologies.front() ? "" : "\n") << as_text(made, output.all);
    }
    if (output.as.json)
      std::cout << nlohmann::ordered_json{{"coset_simulate", 1}, {"machines", results}}.dump(1) << '\n';
    if (output.as.is_table()) std::cout << output.as.of(plans_of_all, verb_name + ", simulated");
  }

 private:
  void judge() const {
    auto rows = table_of_guidelines();
    for (std::string const& topology : topologies) {
      guidelines_request request;
      request.machine = machine_named(topology);
      request.place = placement_named(place);
      request.is_here = topology == "machine";
      request.ranks = ranks;
      request.costs = costs_wanted();
      request.timing = timing_wanted();
      request.sizes = sizes;
      std::ranges::sort(request.sizes);
      request.verbs = {verb_name};
      if (verb_name == "all") {
        request.verbs.clear();
        for (verb const each : all_verbs()) request.verbs.emplace_back(name_of(each));
      }
      add_guidelines(request, rows);
    }
    constexpr double most = measure::most_of_guideline;
    if (output.as.json)
      std::cout << nlohmann::ordered_json{{"coset_simulate", 1},
                                          {"rows", rows.as_json()},
                                          {"within", rows.within("ratio", most)},
                                          {"of", rows.rows().size()},
                                          {"limit", most}}
                       .dump(1)
                << '\n';
    else if (output.as.is_table())
      std::cout << output.as.of(rows, "guidelines, simulated");
    else
      std::cout << rows.as_text() << rows.within_in_words("ratio", most) << '\n';
  }

  cache::timing timing_wanted() const { return timed == "call" ? cache::timing::call : cache::timing::cycle; }

  simulated_machine simulated_on(std::string const& name) const {
    auto const machine = machine_named(name);
    contest_request request;
    request.costs = costs_wanted();
    request.caches = cache::sizes_of(machine);
    request.timing = timing_wanted();
    request.considered = considered;
    request.plans = plans;
    request.asked.what = verb_named(verb_name);
    request.asked.in_place = in_place;
    request.asked.ranks = ranks;
    request.places = place_on(machine, placement_named(place), name == "machine", request.asked);
    require_simulated(request.asked, machine);
    simulated_machine made{machine.name, verb_name, place, request, {}};
    for (std::uint64_t const bytes : sizes) {
      request.asked.bytes = detail::is_barrier(request.asked.what) ? 0 : bytes;
      made.sizes.push_back(simulate_all(request));
    }
    return made;
  }

  cache::costs costs_wanted() const {
    cache::costs made;
    if (!costs_file.empty()) read_costs(made);
    for (std::string const& setting : settings) {
      auto const equals = setting.find('=');
      auto const value = equals == std::string::npos ? std::nullopt : number_in(setting.substr(equals + 1));
      if (!value)
        throw argument_error(fmt::format("'{}' sets nothing: write NAME=NUMBER, as in l3.read=2e-8", setting));
      cache::set(made, setting.substr(0, equals), *value);
    }
    return made;
  }

  /// Bytes per second go beyond what seconds_in() takes.
  static std::optional<double> number_in(std::string const& text) {
    auto const parsed = nlohmann::json::parse(text, nullptr, false);
    return parsed.is_number() ? std::optional(parsed.get<double>()) : std::nullopt;
  }

  void read_costs(cache::costs& to) const {
    auto const content = text::content_of<argument_error>(costs_file, fmt::format("costs file '{}'", costs_file));
    auto const read = nlohmann::json::parse(content, nullptr, false);
    if (!read.is_object())
      throw argument_error(fmt::format("costs file '{}' is no JSON object like {{\"l3.read\": 2e-8}}", costs_file));
    for (auto const& [name, value] : read.items()) {
      if (!value.is_number()) throw argument_error(fmt::format("costs file '{}': '{}' is no number", costs_file, name));
      cache::set(to, name, value.get<double>());
    }
  }
};

std::string default_costs() {
  std::string text;
  for (std::string const& name : cache::names_of_costs())
    text += fmt::format("{}{}={:g}", text.empty() ? "" : " ", name, cache::get(cache::costs(), name));
  return text;
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto const state = std::make_shared<simulate_command>();
  auto& simulate = *add_lab_command(app, "simulate");
  simulate.add_option("collective", state->verb_name, "What the ranks compute")->capture_default_str();
  simulate
      .add_option("sizes", state->sizes, "Sizes of the vector; K, M and G are powers of 1024; default: 8 1K 64K 1M")
      ->transform(byte_size());
  add_ranks(simulate, state->ranks, "How many ranks take part; default: one per core");
  simulate
      .add_option("--topology", state->topologies,
                  "The machine: a file of hwloc's XML, a synthetic description like \"node:2 core:64 pu:1\", or "
                  "\"machine\", this one, which is the default; repeatable")
      ->allow_extra_args(false);
  add_place(simulate, state->place);
  simulate.add_option("--plan", state->plans, "A further plan, as direct/zero_copy: schedule and storage; repeatable")
      ->allow_extra_args(false);
  simulate
      .add_option("--considered", state->considered,
                  "How many of the schedules that the choice considers are simulated, the cheapest by its model first")
      ->check(whole_number(0, 1000))
      ->capture_default_str();
  simulate
      .add_option("--timing", state->timed, "What is timed: call, or cycle: the caller's rewriting and reading, too")
      ->check(one_of({"call", "cycle"}))
      ->capture_default_str();
  simulate
      .add_option(
          "--set", state->settings,
          "What a line or a byte costs: for each level the seconds until a line is read (l3.read) or owned, and "
          "until its copy serves the next reader; links in bytes per second; repeatable. Defaults: " +
              default_costs())
      ->allow_extra_args(false);
  simulate.add_option("--costs", state->costs_file,
                      "A file with such costs: {\"l3.read\": 2e-8, \"package.link\": 8e10}");
  simulate.add_flag("--in-place", state->in_place, "Input and output are the same array");
  auto& judges = *simulate.add_flag(
      "--guidelines", state->output.judges,
      "Instead, of a verb or of all, hold what is chosen against other verbs and compositions that give as "
      "much or more, and against itself for more bytes and with one rank more");
  for (auto const* const other : {"--plan", "--considered", "--in-place"}) judges.excludes(simulate.get_option(other));
  simulate.add_flag("--all", state->output.all,
                    "Show every plan that is simulated, with the lines that move on each level");
  state->output.as.add_to(simulate, "As CSV, a line for every plan that is simulated");
  simulate.callback([state] { state->run(); });
}

}  // namespace coset::cli
