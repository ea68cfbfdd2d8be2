// SPDX-License-Identifier: Apache-2.0
// `coset reproduce`: the figures and tables of the sources, by the model, beside what the sources say.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "base/text/suggestion.hpp"
#include "command/formats.hpp"
#include "command/lab.hpp"
#include "command/numbers.hpp"
#include "lab/commands.hpp"
#include "lab/reproduce/result.hpp"

namespace coset::cli {
namespace reproduction {

std::vector<source> const& sources() {
  static std::vector<source> const all{kolmakov_source(), traff_source(), patarasuk_source(), flexreduce_source(),
                                       end_source()};
  return all;
}

namespace {

source const& source_named(std::string const& name) {
  auto const found = std::ranges::find(sources(), name, &source::name);
  if (found != sources().end()) return *found;
  std::vector<std::string> names;
  for (source const& one : sources()) names.push_back(one.name);
  throw argument_error(fmt::format("no source is called '{}'; there are {}{}", name, fmt::join(names, ", "),
                                   text::did_you_mean(name, names)));
}

std::vector<figure const*> figures_named(source const& of, std::string const& name) {
  std::vector<figure const*> found;
  std::vector<std::string> names;
  for (figure const& one : of.figures) {
    if (name.empty() || one.name == name) found.push_back(&one);
    names.push_back(one.name);
  }
  if (found.empty())
    throw argument_error(fmt::format("{} has no figure '{}'; it has {}{}", of.name, name, fmt::join(names, ", "),
                                     text::did_you_mean(name, names)));
  return found;
}

std::string list_of_sources() {
  std::string text;
  for (source const& one : sources()) {
    auto figures = table("  ").with(as::words, {"figure", "title"});
    for (reproduction::figure const& of : one.figures) figures.add({{"figure", of.name}, {"title", of.title}});
    text += fmt::format("{}: {}\n{}", one.name, one.paper, figures.lines());
  }
  return text;
}

struct reproduce_command {
  std::string source, figure, plot, simulation;
  bool all = false, check = false;
  formats as_what;
  replaced_costs costs;

  void run() const {
    if (source.empty() && !all) {
      if (!as_what.is_text()) throw argument_error("name a source, or --all, for figures as data");
      return void(std::cout << list_of_sources());
    }
    pricing by(costs);
    auto const simulated = simulation.empty() ? std::vector<simulated_time>() : read_simulated(simulation);
    std::vector<result> found;
    for (auto const* const one : wanted()) found.push_back(reproduce(*one, by, simulated));
    if (!plot.empty()) draw(picture_of(found.front()), plot);
    std::cout << (as_what.json        ? as_json(found)
                  : as_what.is_text() ? as_text(found)
                                      : as_what.of(as_table(found), "Figures of the sources, by the model"));
    if (check && !holds(found)) throw CLI::RuntimeError(1);
  }

 private:
  std::vector<reproduction::figure const*> wanted() const {
    if (!all) return figures_named(source_named(source), figure);
    std::vector<reproduction::figure const*> figures;
    for (auto const& one : sources())
      for (auto const& of : one.figures) figures.push_back(&of);
    return figures;
  }

  static bool holds(std::vector<result> const& found) {
    bool all_hold = true;
    for (result const& one : found)
      for (verdict const& v : one.verdicts)
        if (v.is_expected_to_hold() && !v.found.holds) {
          std::cerr << fmt::format("{} {}: {}: source: {}; model: {}\n", one.of->source, one.of->name, v.of->what,
                                   v.of->source, v.found.by_model);
          all_hold = false;
        }
    return all_hold;
  }
};

}  // namespace
}  // namespace reproduction

void add_reproduce(CLI::App& app) {
  auto const command = add_lab_command(app, "reproduce");
  auto const state = std::make_shared<reproduction::reproduce_command>();
  auto* const source = command->add_option("source", state->source, "Whose: without it, all figures are listed");
  auto* const figure =
      command->add_option("figure", state->figure, "Which of its figures; default: all of them")->needs(source);
  command->add_flag("--all", state->all, "All figures of all sources")->excludes(source);
  state->as_what.add_to(*command, "As CSV, a line for each point and each claim");
  command
      ->add_option("--plot", state->plot,
                   "Also draw the figure to this SVG file, by gnuplot; a name that ends in .gp gets gnuplot's script")
      ->needs(figure);
  command->add_option("--simulation", state->simulation,
                      "A CSV file of simulated times, with columns experiment, ranks, mapping, algorithm, bytes and "
                      "seconds, to stand beside the model's");
  command->add_flag("--check", state->check,
                    "Exit status 1 if something that agrees under the sources' parameters does not");
  command->add_option("--alpha", state->costs.alpha, "Seconds per message instead of the source's")->check(seconds());
  command->add_option("--beta", state->costs.beta, "Seconds per byte sent instead of the source's")->check(seconds());
  command->add_option("--gamma", state->costs.gamma, "Seconds per byte combined instead of the source's")
      ->check(seconds());
  command->callback([state] { state->run(); });
}

}  // namespace coset::cli
