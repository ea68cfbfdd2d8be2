// SPDX-License-Identifier: Apache-2.0
// `coset list`: every algorithm with its parameters, steps and volume.
#include <fmt/format.h>
#include <iostream>

#include "command/commands.hpp"
#include "command/formats.hpp"
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

/// Null, as what cannot be had, for programs.
constexpr char const* not_counted = "?";

table::row row_of(schedule::named_algorithm const& of, rank_t ranks, bool is_for_people) {
  table::row row{{"algorithm", of.name}, {"steps", {}}, {"received", {}}, {"combined", {}},
                 {"peers", {}},          {"bits", {}},  {"order", {}},    {"summary", of.summary}};
  try {
    schedule::proved_schedule const made(example(of, ranks), ranks, of.verbs.front());
    auto const& found = made.found();
    row["steps"] = found.steps;
    row["received"] = found.received_max.text();
    row["combined"] = found.combined_max.text();
    row["peers"] = found.fan_in;
    row["bits"] = found.rank_uniform ? "same" : "differ";
    row["order"] = made.is_idempotent_only() ? "idem" : found.ordered ? "yes" : "no";
  } catch (schedule::no_room const&) {
    for (auto const* const figure : {"steps", "received", "combined", "peers", "bits", "order"})
      row[figure] = is_for_people ? nlohmann::ordered_json(not_counted) : nlohmann::ordered_json();
  } catch (schedule_error const&) {  // nothing of such a name on so many ranks
  }
  return row;
}

std::string verbs_of(schedule::named_algorithm const& row) {
  std::string text;
  for (auto const verb : row.verbs) text += (text.empty() ? "" : ", ") + std::string(name_of(verb));
  return text;
}

/// As --long tells it.
std::string details_of(schedule::named_algorithm const& of) {
  auto text =
      fmt::format("    {}{}\n    for {}\n    source: {}\n", of.name, parameters_of(of), verbs_of(of), of.source);
  if (of.not_chosen != nullptr) text += fmt::format("    not chosen by itself: {}\n", of.not_chosen);
  for (schedule::parameter const& p : of.parameters) text += fmt::format("    {}: {}\n", p.name, p.meaning);
  return text;
}

struct list_command {
  rank_t ranks = 8;
  bool details = false;
  formats as_what;

  void run() const {
    if (ranks < 2) throw schedule_error("list compares algorithms on at least 2 ranks");
    constexpr rank_t most = 1 << 17;  // beyond, what is counted takes minutes
    if (ranks > most) throw schedule_error(fmt::format("list compares algorithms on at most {} ranks", most));
    auto found = table()
                     .with(as::words, fmt::format("{} ranks", ranks), "algorithm")
                     .with(as::numbers, {"steps", "received", "combined", "peers"})
                     .with(as::words, {"bits", "order", "what it is=summary"});
    schedule::room_limit const soon(std::size_t{1} << 20);  // 1,024 ranks that own a block each
    progress shown;
    for (std::size_t number = 0; auto const& each : schedule::registry()) {
      shown.at(++number, schedule::registry().size(), each.name);
      found.add(row_of(each, ranks, !as_what.json && !as_what.csv));
    }
    shown.erase();
    if (as_what.json) {
      nlohmann::ordered_json const told{{"coset_list", 1}, {"ranks", ranks}, {"algorithms", found.as_json()}};
      std::cout << told.dump(1) << '\n';
    } else {
      std::cout << (as_what.is_text() ? text_of(found)
                                      : as_what.of(found, fmt::format("Algorithms on {} ranks", ranks)));
    }
  }

 private:
  std::string text_of(table const& found) const {
    std::string text = found.heads();
    for (std::size_t k = 0; auto const& each : schedule::registry())
      text += found.line(found.rows()[k++]) + (details ? details_of(each) : "");
    return text +
           "Volumes are per rank, in vectors. peers: the most ranks that one rank reads from in one step. order: "
           "whether "
           "rank order is kept (non-commutative operations); idem: minimum, maximum and the like only. With two nodes, "
           "or "
           "two dimensions, where the algorithm needs them; fold has circulant's shifts. All take permute, the ranks "
           "in "
           "another order: 3+1+0+2, reverse, rotate:K, stride:K, random:SEED, nodes:0.1.0.1.\n" +
           (std::ranges::any_of(found.rows(), [](auto const& row) { return row["steps"] == not_counted; })
                ? fmt::format("{}: not counted, as these are written out for all ranks, and with so many that takes "
                              "longer than some seconds.\n",
                              not_counted)
                : "");
  }
};

}  // namespace

void add_list(CLI::App& app) {
  auto const command = app.add_subcommand("list", "List the algorithms with their steps and volume");
  auto const state = std::make_shared<list_command>();
  add_ranks(*command, state->ranks, "The number of ranks")->capture_default_str();
  command->add_flag("-l,--long", state->details, "Also list parameters, collectives and sources");
  state->as_what.add_to(*command);
  command->callback([state] { state->run(); });
}

}  // namespace coset::cli
