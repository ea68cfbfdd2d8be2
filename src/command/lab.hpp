// SPDX-License-Identifier: Apache-2.0
// What the package coset-lab adds to the command. It is a program of its own, coset-lab: the same command with the lab and the
// rivals linked. So nobody loads OpenMP and oneTBB, the rivals' libraries, who only asks for a plan.
#pragma once

#include <array>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/measure/harness/contestant.hpp"

namespace CLI {
class App;
}

namespace coset::schedule {
struct proved_plan;
struct schedule;
}

namespace coset::cli {

struct plans_to_simulate;
struct processes_request;
struct simulated_plan;

/// The commands that the lab brings along. `coset` lists them, too, and passes them on.
struct lab_command {
  char const* name;
  char const* summary;
};
inline constexpr std::array lab_commands{
    lab_command{"generate", "Print a schedule as source code, or for another program"},
    lab_command{"cost", "Compare algorithms, and plans of files, under a model of the machine"},
    lab_command{"search", "Look for the cheapest chain of shifts under a model"},
    lab_command{"simulate",
                "Simulate the caches of a machine under the plan that a call gets, others, and loops by hand"},
    lab_command{"reproduce", "Show the figures and tables of the papers, by the model, beside what the papers say"},
};
/// Of lab_commands, whose summary it gets.
CLI::App* add_lab_command(CLI::App&, std::string_view name);

struct laboratory {
  void (*add_commands)(CLI::App&);
  /// The page of `coset bench --report`, that needs nothing but itself. `data` has "machine", as `coset info --json` says it,
  /// and "bench" or "scaling", as the files of --json do; beside "bench" also "why", for each size what `coset why --json`
  /// says; beside "scaling" maybe "other", the file of another machine, and "beside", both laid beside each other. "csv" is a
  /// text. No text in them can end the element that holds them.
  std::string (*report_page)(nlohmann::ordered_json data);
  /// That of `coset plan --html`.
  void (*plan_page)(std::ostream&, std::span<schedule::proved_plan const>);
  /// A schedule in one of other programs' languages, `origin` for messages.
  schedule::schedule (*read_msccl)(std::istream&, std::string const& origin);
  std::vector<simulated_plan> (*simulate_plans)(plans_to_simulate const&);
  void (*measure_processes)(processes_request const&);
  std::vector<std::string> const& (*rival_families)();
  measure::contestants (*make_rivals)(verb, std::vector<unsigned> const& processors,
                                      std::vector<std::string> const& families);
};

/// Defined once in each of the two programs: null in `coset`.
extern laboratory const* const lab;

/// What goes on has the lab: in `coset` that is coset-lab, with the same arguments. Throws error naming the package that brings
/// it, if it is not installed; `what` is for the message.
laboratory const& need_lab(std::string_view what);

/// As need_lab(), but null where it is not installed.
laboratory const* prefer_lab();

/// In `coset`: the lab's commands, each with whatever follows it.
void pass_on_lab_commands(CLI::App&);

}  // namespace coset::cli
