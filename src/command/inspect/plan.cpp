// SPDX-License-Identifier: Apache-2.0
// `coset plan`: one schedule, as text, Plan JSON or a picture, and proved; several on one page.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "command/commands.hpp"
#include "command/inspect/schedule_options.hpp"
#include "command/lab.hpp"
#include "command/numbers.hpp"
#include "command/output.hpp"
#include "command/shown/draw.hpp"
#include "command/shown/networks/link_traffic.hpp"
#include "command/why/why.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/files/plan_json.hpp"

namespace coset::cli {
namespace {

struct plan_command {
  schedule_options what;
  std::string verb_name, size;     // the call
  std::vector<std::string> plans;  // algorithms or files, several for the page
  std::vector<std::string> more;   // of the form that goes away: further algorithms
  bool json = false, dot = false, svg = false, html = false, text = false, check = false;
  std::optional<rank_t> view;

  struct subject {
    schedule::plan_file made;
    bool is_file;
  };

  void run(bool collective_given) {
    read_call(collective_given);
    if (plans.size() > 1 && !html) throw schedule_error("several algorithms are shown together by --html only");
    if (html) (void)need_lab("the page of --html");  // before anything is made
    if (view) {
      std::cout << schedule::draw_text(what.make_part(*view), *view);
      return;
    }
    auto const all = subjects();
    if (html)
      write_page(all);
    else
      show(all.front().made.plan);
    if (!check) return;
    for (subject const& each : all) {
      if (all.size() > 1)
        std::cerr << schedule::algorithm{each.made.plan.algorithm, each.made.plan.parameters}.text() << ": ";
      report(each);
    }
  }

  std::vector<subject> subjects() const {
    std::vector<subject> all;
    auto const add = [&](schedule_options const& wanted) {
      all.push_back({wanted.make(), wanted.names_file()});
      if (wanted.names_file()) prove(all.back().made.plan);  // others are right by construction
    };
    for (std::string const& name : plans) {
      auto another = what;
      another.algorithm = name;
      add(another);
    }
    return all;
  }

  /// The verb and the plans; without plans the one that the call gets here.
  void read_call(bool is_old) {
    if (!verb_name.empty() && names_verb(verb_name)) {
      if (is_old && what.collective != verb_name)
        throw argument_error(fmt::format("{} and --collective {}: say one", verb_name, what.collective));
      if (!more.empty())
        throw argument_error(fmt::format("plan {} takes no '{}'; algorithms follow --plan", verb_name, more.front()));
      what.collective = verb_name;
      if (!size.empty() && !byte_size_in(size)) throw argument_error(fmt::format("'{}' is no size such as 64K", size));
    } else if (!verb_name.empty()) {
      more.insert(more.begin(), {verb_name, size});
      std::erase(more, "");
      plans.insert(plans.begin(), more.begin(), more.end());
      is_old = true;
    }
    if (is_old) note_old_form("plan", what.collective, {}, plans);
    if (plans.empty()) {
      auto const bytes = byte_size_in(size.empty() ? "8" : size);
      auto const why = why_here(what.collective, *bytes, what.ranks, false);
      plans.push_back(why["chosen"]["algorithm"]);
      what.ranks = why["ranks"];
    }
    what.algorithm = plans.front();
  }

  void show(schedule::schedule const& made) const {
    if (json)
      schedule::write_plan(std::cout, made, schedule::validate(made));
    else if (dot)
      std::cout << schedule::draw_dot(made);
    else if (svg)
      std::cout << schedule::draw_svg(made);
    else if (text || !check)
      std::cout << schedule::draw_text(made);
  }

  static void write_page(std::vector<subject> const& all) {
    std::vector<schedule::proved_plan> proved;
    for (subject const& each : all) proved.push_back({each.made.plan, schedule::validate(each.made.plan)});
    need_lab("the page of --html").plan_page(std::cout, proved);
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
  void report(subject const& shown) const {
    schedule::schedule const& made = shown.made.plan;
    std::ostream& out = json || dot || svg || html ? std::cerr : std::cout;
    auto const p = prove(made);
    if (auto const wrong = schedule::contradictions(shown.made.stated, p); !wrong.empty()) {
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
    if (shown.is_file) return;  // the tree of a plan in a file may have changed
    if (std::string const& file = own != made.parameters.end() ? own->second : what.tree; !file.empty())
      out << fmt::format("messages on the busiest edge, per direction and step: {}\n",
                         schedule::busiest_edge(made, schedule::read_tree(file)));
  }
};

}  // namespace

void add_plan(CLI::App& app) {
  auto const command = app.add_subcommand("plan", "Show the schedule of an algorithm");
  auto const state = std::make_shared<plan_command>();
  command->add_option("verb", state->verb_name, "What the ranks compute; default: allreduce");
  command->add_option("size", state->size,
                      "Size of the vector, by which a plan is chosen where none is named; default: 8");
  command->add_option("more", state->more, "")->group("");
  command
      ->add_option("--plan", state->plans,
                   std::string(algorithm_help) +
                       ", one that ends in .xml an algorithm of MSCCL; these set what the options "
                       "below would, which may not be given with them. Repeatable with --html. "
                       "Default: what the call gets on this machine")
      ->allow_extra_args(false);
  state->what.add_options_to(*command);
  auto const format = command->add_option_group("format", "How to show it");
  auto const add = [&](char const* name, bool& flag, char const* meaning) {
    return format->add_flag(name, flag, meaning);
  };
  add("--text", state->text, "What each rank reads, from which rank, and holds, step by step (default)");
  auto const drawings = {
      add("--json", state->json, "Plan JSON, for programs"), add("--dot", state->dot, "A graph for Graphviz"),
      add("--svg", state->svg, "A picture"),
      add("--html", state->html,
          "A page for a browser, to step through; it needs no network. Further algorithms, or files, are "
          "shown beside the first")};
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
  command->callback([state, command] { state->run(command->count("--collective") > 0); });
}

}  // namespace coset::cli
