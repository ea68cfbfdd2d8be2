// SPDX-License-Identifier: Apache-2.0
// `coset reproduce`: what the sources claim, judged by counts, the model and simulated messages, and their figures drawn anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <span>

#include "base/text/file.hpp"
#include "base/text/suggestion.hpp"
#include "command/formats.hpp"
#include "command/lab.hpp"
#include "command/numbers.hpp"
#include "lab/commands.hpp"
#include "lab/reproduce/figures.hpp"
#include "lab/reproduce/result.hpp"
#include "lab/reproduce/script.hpp"

namespace coset::cli {
namespace reproduction {
namespace {

struct claims_file {
  char const* name;
  std::string_view text;
};
constexpr std::array claims_files{claims_file{
                                      "kolmakov.lua",
#include "kolmakov.lua.inc"
                                  },
                                  claims_file{
                                      "traff.lua",
#include "traff.lua.inc"
                                  },
                                  claims_file{
                                      "patarasuk.lua",
#include "patarasuk.lua.inc"
                                  },
                                  claims_file{
                                      "flexreduce.lua",
#include "flexreduce.lua.inc"
                                  },
                                  claims_file{
                                      "end.lua",
#include "end.lua.inc"
                                  }};

constexpr char kept_simulation[] =
#include "simulated.csv.inc"
    ;

template <typename Named>
std::vector<std::string> names_of(std::vector<Named> const& all, std::string Named::*name) {
  std::vector<std::string> names;
  for (Named const& one : all) names.push_back(one.*name);
  return names;
}

/// The one of that name. Throws argument_error listing all.
template <typename Named>
Named const& find(std::vector<Named> const& all, std::string Named::*name, std::string const& wanted,
                  std::string const& what) {
  auto const found = std::ranges::find(all, wanted, name);
  if (found != all.end()) return *found;
  auto const names = names_of(all, name);
  throw argument_error(fmt::format("no {} is called '{}'; there are {}{}", what, wanted, fmt::join(names, ", "),
                                   text::did_you_mean(wanted, names)));
}

std::string list_of(std::vector<source> const& sources) {
  std::string text;
  for (source const& one : sources)
    text += fmt::format("{}: {}\n  {} claims; figures: {}\n", one.name, one.paper, one.claims.size(),
                        fmt::join(names_of(one.figures, &figure::name), ", "));
  return text;
}

struct reproduce_command {
  std::string source, figure, plot, simulation;
  std::vector<std::string> ids, claims;
  bool all = false, check = false, run_too = false;
  formats as_what;
  replaced_costs costs;

  void run() const {
    context with(costs,
                 simulation.empty()
                     ? simulated_times(std::string(kept_simulation), "simulated.csv")
                     : simulated_times(text::content_of<argument_error>(simulation, simulation), simulation),
                 run_too);
    script by(with);
    for (claims_file const& one : claims_files) by.read(one.text, one.name);
    auto const own = by.sources().size();
    for (std::string const& file : claims) by.read(text::content_of<argument_error>(file, file), file);
    if (!figure.empty()) return draw(by);
    bool const names_none = source.empty() && !all && ids.empty();
    if (names_none && claims.empty()) {
      if (!as_what.is_text() || check) throw argument_error("name a source, a claim, or --all, for verdicts");
      return void(std::cout << list_of(by.sources()));
    }
    judge(by, names_none ? own : 0);
  }

 private:
  void draw(script const& by) const {
    auto const& from = find(by.sources(), &reproduction::source::name, source, "source");
    auto const& of = find(from.figures, &reproduction::figure::name, figure, "figure of " + source);
    auto const points = by.draw(of);
    if (!plot.empty()) cli::draw(picture_of(of, points), plot);
    std::cout << (as_what.json        ? as_json(of, points)
                  : as_what.is_text() ? as_text(of, points)
                                      : as_what.of(as_table(of, points), of.title));
  }

  void judge(script const& by, std::size_t from) const {
    std::vector<judged_source> judged;
    for (auto const& one : std::span(by.sources()).subspan(from)) {
      if (!source.empty() && one.name != source) continue;
      judged.push_back({&one, {}});
      for (claim const& c : one.claims)
        if (ids.empty() || std::ranges::count(ids, c.id)) judged.back().claims.push_back(by.judge(c));
      if (!ids.empty() && judged.back().claims.empty()) judged.pop_back();
    }
    if (judged.empty()) refuse(by, ids);
    std::vector<std::string> missing;
    for (std::string const& id : ids) {
      auto const has_it = [&](judged_source const& one) {
        return std::ranges::any_of(one.claims, [&](judged_claim const& c) { return c.of->id == id; });
      };
      if (std::ranges::none_of(judged, has_it)) missing.push_back(id);
    }
    if (!missing.empty()) refuse(by, missing);
    print(judged);
    if (check && !are_as_known(judged)) throw CLI::RuntimeError(1);
  }

  /// Nobody has what was asked for.
  [[noreturn]] void refuse(script const& by, std::vector<std::string> const& missing) const {
    if (missing.empty()) find(by.sources(), &reproduction::source::name, source, "source");
    std::vector<std::string> known;
    for (auto const& one : by.sources())
      for (claim const& c : one.claims) known.push_back(c.id);
    throw argument_error(fmt::format(
        "no claim is called '{}'{}; `coset reproduce SOURCE` lists those of a source", fmt::join(missing, ", "),
        std::ranges::count(known, missing.front()) > 0 ? " of " + source : text::did_you_mean(missing.front(), known)));
  }

  void print(std::vector<judged_source> const& judged) const {
    if (!as_what.is_text())
      return void(
          std::cout << (as_what.json ? as_json(judged) : as_what.of(as_table(judged), "What the sources claim")));
    if (ids.empty()) return void(std::cout << as_text(judged));
    for (judged_source const& from : judged)
      for (judged_claim const& one : from.claims) std::cout << in_full(one);
  }

  static bool are_as_known(std::vector<judged_source> const& judged) {
    bool all = true;
    for (judged_source const& from : judged)
      for (judged_claim const& one : from.claims)
        if (auto const other = one.surprise(); !other.empty()) {
          std::cerr << fmt::format("{}: {}\n", one.of->id, other);
          all = false;
        }
    return all;
  }
};

}  // namespace
}  // namespace reproduction

void add_reproduce(CLI::App& app) {
  auto const command = add_lab_command(app, "reproduce");
  auto const state = std::make_shared<reproduction::reproduce_command>();
  auto* const source = command->add_option("source", state->source, "Whose claims: without it, all sources are listed");
  auto* const figure =
      command->add_option("figure", state->figure, "One of its figures, drawn, instead of claims")->needs(source);
  auto* const all = command->add_flag("--all", state->all, "The claims of all sources")->excludes(source);
  command->add_option("--id", state->ids, "These claims alone, with all their numbers: KZ-11b")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(figure)
      ->excludes(all);
  command
      ->add_option("--claims", state->claims, "A file of further claims, in Lua, as those of the sources are written")
      ->allow_extra_args(false);
  state->as_what.add_to(*command, "As CSV, a line for each question, or for each point of the figure");
  command
      ->add_option("--plot", state->plot,
                   "Also draw the figure to this SVG file, by gnuplot; a name that ends in .gp gets gnuplot's script")
      ->needs(figure);
  command->add_option("--simulation", state->simulation,
                      "A CSV file of simulated times, with columns experiment, ranks, mapping, algorithm, bytes and "
                      "seconds, instead of those that are kept");
  command->add_flag("--run", state->run_too, "Also time what claims ask of this machine: leave it alone meanwhile");
  command->add_flag("--check", state->check, "Exit status 1 if a verdict is not the one that is known");
  command->add_option("--alpha", state->costs.alpha, "Seconds per message instead of the source's")->check(seconds());
  command->add_option("--beta", state->costs.beta, "Seconds per byte sent instead of the source's")->check(seconds());
  command->add_option("--gamma", state->costs.gamma, "Seconds per byte combined instead of the source's")
      ->check(seconds());
  command->callback([state] { state->run(); });
}

}  // namespace coset::cli
