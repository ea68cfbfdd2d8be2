// SPDX-License-Identifier: Apache-2.0
// Turns options into a schedule.
#include "command/inspect/schedule_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/text/file.hpp"
#include "base/text/suggestion.hpp"
#include "command/lab.hpp"
#include "command/numbers.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/parts/make_part.hpp"

namespace coset::cli {

namespace {

/// "128", or "128*1000" for a thousand of them.
CLI::Validator repeated_number() {
  return CLI::Validator(
      [](std::string& text) {
        auto const times = text.find('*');
        auto const is_one = [](std::string_view part) { return whole_number_in(part).value_or(0) - 1 < most_ranks; };
        bool const good = is_one(std::string_view(text).substr(0, times)) &&
                          (times == std::string::npos || is_one(std::string_view(text).substr(times + 1)));
        return good ? std::string() : fmt::format("{} is not a whole number of ranks, nor two like 128*1000", text);
      },
      "NUMBER[*TIMES]");
}

}  // namespace

bool names_verb(std::string const& first) {
  std::vector<std::string> known;
  for (verb const each : all_verbs()) known.emplace_back(name_of(each));
  if (std::ranges::find(known, first) != known.end()) return true;
  auto const name = first.substr(0, first.find('('));
  for (auto const& each : schedule::registry()) known.push_back(each.name);
  if (first.ends_with(".json") || first.ends_with(".xml") || std::ranges::find(known, name) != known.end())
    return false;
  throw argument_error(text::none_of(name, known));
}

void schedule_options::add_to(CLI::App& command) {
  command
      .add_option("algorithm", algorithm,
                  std::string(algorithm_help) +
                      ", one that ends in .xml an algorithm of MSCCL. These set what the options "
                      "below would, which may not be given with them")
      ->required();
  add_options_to(command);
}

void schedule_options::add_options_to(CLI::App& command) {
  auto const add = [&](std::string const& names, auto& value, std::string const& meaning) {
    CLI::Option* const made = command.add_option(names, value, meaning);
    said_by_plans_.push_back(made);
    return made;
  };
  auto const number = whole_number(0, UINT32_MAX);
  said_by_plans_.push_back(add_ranks(command, ranks, "How many ranks take part; required with an algorithm"));
  add("-c,--collective", collective, "What the ranks compute: allreduce, reduce, reduce_scatter, …")
      ->capture_default_str();
  add("--root", root, "The root of reduce and broadcast")->check(number)->capture_default_str();
  add("--radix", radix, "Shorthand for the parameter radix=K")->check(number);
  add("--saved-steps", saved_steps, "Shorthand for saved_steps=R")->check(number);
  add("--group", group, "Shorthand for dims=4x3");
  add("--nodes", nodes, "Shorthand for nodes=5+2+4: ranks of each node, 5,2,4; 128*1000 is 128 a thousand times")
      ->delimiter(',')
      ->check(repeated_number());
  add("--tree", tree,
      "Shorthand for tree=FILE: {\"tree\": {\"top\": [\"left\", 2], \"left\": [0, 1]}}; with other algorithms, the "
      "tree whose "
      "busiest edge `plan --check` reports");
}

schedule::plan_file schedule_options::read() const {
  for (CLI::Option const* const given : said_by_plans_)
    if (!given->empty())
      throw schedule_error(
          fmt::format("{} is a plan file, which itself sets what {} would", algorithm, given->get_name()));
  std::istringstream file(text::content_of<schedule_error>(algorithm, algorithm));
  if (algorithm.ends_with(".xml")) return {need_lab("what reads MSCCL's XML").read_msccl(file, algorithm)};
  return schedule::read_plan(file, algorithm);
}

schedule::algorithm schedule_options::named() const {
  auto named = schedule::algorithm::parse(algorithm);
  auto const set = [&](std::string const& key, std::string const& value) {
    if (!value.empty() && !named.parameters.emplace(key, value).second)
      throw schedule_error(
          fmt::format("{} is given twice: as {} in the algorithm and as an option", key, named.parameters[key]));
  };
  set("radix", radix);
  set("saved_steps", saved_steps);
  set("dims", group);
  set("nodes", fmt::format("{}", fmt::join(nodes, "+")));
  auto const& taken = schedule::find_algorithm(named.name).parameters;
  if (std::ranges::find(taken, "tree", &schedule::parameter::name) != taken.end()) set("tree", tree);
  return named;
}

schedule::plan_file schedule_options::make() const {
  if (names_file()) return read();
  if (ranks == 0) throw schedule_error("--ranks is required with an algorithm");
  return {schedule::make(named(), ranks, schedule::scheduled_verb(collective), root)};
}

schedule::part schedule_options::make_part(rank_t view) const {
  if (names_file()) throw schedule_error("--view shows a rank of an algorithm, not of a plan file");
  auto const wanted = named();
  std::vector<rank_t> hosts{0};
  if (wanted.parameters.contains("nodes")) {
    for (rank_t const size : wanted.numbers("nodes")) {
      if (size > most_ranks - hosts.back()) throw schedule_error("the nodes have more ranks than can be");
      hosts.push_back(hosts.back() + size);
    }
    if (!said_by_plans_.front()->empty() && ranks != hosts.back())
      throw schedule_error(fmt::format("--ranks {} is not the sum of the nodes, {}", ranks, hosts.back()));
  } else {
    if (ranks == 0) throw schedule_error("--ranks is required with an algorithm");
    schedule::require_room(ranks, 1);
    for (rank_t r = 1; r <= ranks; ++r) hosts.push_back(r);
  }
  if (view >= hosts.back()) throw schedule_error(fmt::format("--view {}: there are {} ranks", view, hosts.back()));
  auto const host = std::ranges::upper_bound(hosts, view) - hosts.begin() - 1;
  return schedule::make_part(wanted, hosts, static_cast<std::size_t>(host), schedule::scheduled_verb(collective), root);
}

}  // namespace coset::cli
