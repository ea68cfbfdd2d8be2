// SPDX-License-Identifier: Apache-2.0
// `coset plan`: one schedule, as text, Plan JSON or a picture, and proved.
#include <fmt/format.h>
#include <iostream>
#include <optional>

#include "cli/commands.hpp"
#include "cli/inspect/schedule_options.hpp"
#include "cli/numbers.hpp"
#include "schedule/core/validate.hpp"
#include "schedule/model/tree.hpp"
#include "study/draw.hpp"
#include "study/plan_json.hpp"

namespace coset::cli {
namespace {

struct plan_command {
  schedule_options what;
  bool json = false, dot = false, svg = false, text = false, check = false;
  std::optional<rank_t> view;

  void run() const {
    if (view) {
      std::cout << schedule::draw_text(what.make_part(*view), *view);
      return;
    }
    auto const [made, stated] = what.make();
    if (what.names_file()) prove(made);  // others are right by construction
    if (json)
      schedule::write_plan(std::cout, made, schedule::validate(made));
    else if (dot)
      std::cout << schedule::draw_dot(made);
    else if (svg)
      std::cout << schedule::draw_svg(made);
    else if (text || !check)
      std::cout << schedule::draw_text(made);
    if (check) report(made, stated);
  }

  static schedule::properties prove(schedule::schedule const& made) {
    try {
      return schedule::validate(made);
    } catch (schedule_error const& violation) {
      std::cerr << "wrong: " << violation.what() << '\n';
      throw CLI::RuntimeError(1);
    }
  }

  // If a drawing goes to standard output, the verdict goes to standard error.
  void report(schedule::schedule const& made, schedule::statements const& stated) const {
    std::ostream& out = json || dot || svg ? std::cerr : std::cout;
    auto const p = prove(made);
    if (auto const wrong = schedule::contradictions(stated, p); !wrong.empty()) {
      for (auto const& each : wrong) std::cerr << "wrong: in the properties, " << each << '\n';
      throw CLI::RuntimeError(1);
    }
    out << fmt::format(
        "valid: {} steps; at most {} sent, {} received, {} combined per rank (no less than {}); fan-in {}; {}; {}\n",
        p.steps, p.sent_max.text(), p.received_max.text(), p.combined_max.text(), p.volume_bound.text(), p.fan_in,
        p.rank_uniform ? "same bits on every rank" : "bits may differ between ranks",
        p.ordered ? "rank order kept" : "commutative operations only");
    if (made.idempotent_only) out << "contributors count more than once: only for minimum, maximum and the like\n";
    auto const own = made.parameters.find("tree");
    if (what.names_file()) return;  // the tree of a plan in a file may have changed
    if (std::string const& file = own != made.parameters.end() ? own->second : what.tree; !file.empty())
      out << fmt::format("messages on the busiest edge, per direction and step: {}\n",
                         schedule::busiest_edge(made, schedule::read_tree(file)));
  }
};

}  // namespace

void add_plan(CLI::App& app) {
  auto const command = app.add_subcommand("plan", "Show the schedule of an algorithm");
  auto const state = std::make_shared<plan_command>();
  state->what.add_to(*command);
  auto const format = command->add_option_group("format", "How to show it");
  auto const add = [&](char const* name, bool& flag, char const* meaning) {
    return format->add_flag(name, flag, meaning);
  };
  add("--text", state->text, "What each rank reads, from which rank, and holds, step by step (default)");
  auto const drawings = {add("--json", state->json, "Plan JSON, for programs"),
                         add("--dot", state->dot, "A graph for Graphviz"), add("--svg", state->svg, "A picture")};
  format->require_option(0, 1);
  auto const check =
      command->add_flag("--check", state->check,
                        "Prove that the plan does what the collective requires, and that the properties in a file are "
                        "true; exit status 1 if not. A plan from a file is always proved");
  auto const view = command
                        ->add_option("--view", state->view,
                                     "Show what one rank folds, copies and sends, as text, however many ranks there "
                                     "are. Those of its node share memory with it; without nodes none does")
                        ->check(whole_number(0, most_ranks - 1))
                        ->excludes(check);
  for (CLI::Option* const other : drawings) view->excludes(other);
  command->callback([state] { state->run(); });
}

}  // namespace coset::cli
