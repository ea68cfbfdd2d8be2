// SPDX-License-Identifier: Apache-2.0
// `coset list`: every algorithm with its parameters, steps and volume.
#include <fmt/format.h>
#include <iostream>

#include "command/commands.hpp"
#include "command/numbers.hpp"
#include "command/progress.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/model/proved.hpp"

namespace coset::cli {
namespace {

std::string parameters_of(schedule::named_algorithm const& row) {
  std::string text;
  for (schedule::parameter const& p : row.parameters)
    text += fmt::format("{}{}={}", text.empty() ? "(" : ",", p.name, p.default_value.empty() ? "…" : p.default_value);
  return text.empty() ? text : text + ")";
}

// Two nodes as equal as possible, for the algorithms that need nodes; some shifts for a chain of one's own.
schedule::algorithm example(schedule::named_algorithm const& row, rank_t ranks) {
  schedule::algorithm chosen{row.name, {}};
  rank_t const upper = (ranks + 1) / 2;
  for (schedule::parameter const& p : row.parameters) {
    std::string const& name = p.name;
    if (name == "shifts") chosen.parameters[name] = "circulant";
    if (name == "nodes") chosen.parameters[name] = fmt::format("{}+{}", upper, ranks - upper);
    if ((name == "dims" || name == "factors") && !p.passed_on)
      chosen.parameters[name] = ranks % 2 == 0 ? fmt::format("{}x2", ranks / 2) : fmt::format("{}", ranks);
  }
  return chosen;
}

/// The same mark in all columns.
std::string no_figures(char const* mark) { return fmt::format("{0:>5}  {0:>9}  {0:>9}  {0:>5}  {0:<7}  {0:<5}", mark); }
constexpr char const* not_counted = "?";

std::string figures(schedule::named_algorithm const& row, rank_t ranks) {
  try {
    schedule::proved_schedule const made(example(row, ranks), ranks, row.verbs.front());
    auto const& found = made.found();
    return fmt::format("{:>5}  {:>9}  {:>9}  {:>5}  {:<7}  {:<5}", found.steps, found.received_max.text(),
                       found.combined_max.text(), found.fan_in, found.rank_uniform ? "same" : "differ",
                       made.is_idempotent_only() ? "idem"
                       : found.ordered           ? "yes"
                                                 : "no");
  } catch (schedule::no_room const&) {
    return no_figures(not_counted);
  } catch (schedule_error const&) {
    return no_figures("-");
  }
}

std::string verbs_of(schedule::named_algorithm const& row) {
  std::string text;
  for (auto const verb : row.verbs) text += (text.empty() ? "" : ", ") + std::string(name_of(verb));
  return text;
}

void print(rank_t ranks, bool details) {
  if (ranks < 2) throw schedule_error("list compares algorithms on at least 2 ranks");
  std::cout << fmt::format("{:<22}  {:>5}  {:>9}  {:>9}  {:>5}  {:<7}  {:<5}  {}\n", fmt::format("{} ranks", ranks),
                           "steps", "received", "combined", "peers", "bits", "order", "what it is");
  schedule::room_limit const soon(std::size_t{1} << 20);  // 1,024 ranks that own a block each
  progress shown;
  std::size_t number = 0, left_out = 0;
  for (auto const& row : schedule::registry()) {
    shown.at(++number, schedule::registry().size(), row.name);
    auto const found = figures(row, ranks);
    left_out += found == no_figures(not_counted);
    shown.erase();
    std::cout << fmt::format("{:<22}  {}  {}\n", row.name, found, row.summary) << std::flush;
    if (!details) continue;
    std::cout << fmt::format("    {}{}\n    for {}\n    source: {}\n", row.name, parameters_of(row), verbs_of(row),
                             row.source);
    if (row.not_chosen != nullptr) std::cout << fmt::format("    not chosen by itself: {}\n", row.not_chosen);
    for (schedule::parameter const& p : row.parameters) std::cout << fmt::format("    {}: {}\n", p.name, p.meaning);
  }
  std::cout
      << "Volumes are per rank, in vectors. peers: the most ranks that one rank reads from in one step. order: whether "
         "rank "
         "order is kept (non-commutative operations); idem: minimum, maximum and the like only. With two nodes, or two "
         "dimensions, where the algorithm needs them; fold has circulant's shifts. All take permute, the ranks in "
         "another order: "
         "3+1+0+2, reverse, rotate:K, stride:K, random:SEED, nodes:0.1.0.1.\n";
  if (left_out > 0)
    std::cout << fmt::format(
        "{}: not counted, as these are written out for all ranks, and with so many that takes longer than some "
        "seconds.\n",
        not_counted);
}

}  // namespace

void add_list(CLI::App& app) {
  auto const command = app.add_subcommand("list", "List the algorithms with their steps and volume");
  auto const ranks = std::make_shared<rank_t>(8);
  auto const details = std::make_shared<bool>(false);
  add_ranks(*command, *ranks, "The number of ranks")->capture_default_str();
  command->add_flag("-l,--long", *details, "Also list parameters, collectives and sources");
  command->callback([ranks, details] { print(*ranks, *details); });
}

}  // namespace coset::cli
