// SPDX-License-Identifier: Apache-2.0
// The options by which several subcommands name a schedule.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "planning/schedule/files/plan_json.hpp"
#include "planning/schedule/parts/part.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::cli {

/// What names algorithms in all commands, beside what begins its help.
inline constexpr auto algorithm_help =
    "Name and parameters, like ring or \"generalized(radix=4,saved_steps=1)\"; `coset list` has all. A name that ends "
    "in "
    ".json is a file with Plan JSON";

/// Whether the first argument is a verb; else it is an algorithm or a plan's file, as in a form that goes away. Throws
/// argument_error if it is neither.
bool names_verb(std::string const& first);

/// An algorithm's text and the shorthands for its parameters; or the name of a file with a plan, without shorthands.
struct schedule_options {
  std::string algorithm, collective = "allreduce";
  rank_t ranks = 0, root = 0;
  std::string radix, saved_steps, group, tree;
  std::vector<std::string> nodes;

  /// With the algorithm as an argument.
  void add_to(CLI::App&);
  /// Without.
  void add_options_to(CLI::App&);

  bool names_file() const { return algorithm.ends_with(".json") || algorithm.ends_with(".xml"); }

  /// Throws schedule_error for whatever schedule::make(), schedule::read_plan() or schedule::read_msccl() refuses, for a
  /// parameter given twice, and for one that a plan's file determines. Proves neither a plan read nor its stated
  /// properties.
  schedule::plan_file make() const;
  /// The part of one rank and of those that share memory with it: of its node, where nodes are given, else of it alone.
  /// Made without the rest, where schedule::make_part() can. Throws as make() does, and if there is no such rank.
  schedule::part make_part(rank_t view) const;

 private:
  schedule::plan_file read() const;
  schedule::algorithm named() const;

  std::vector<CLI::Option const*> said_by_plans_;
};

}  // namespace coset::cli
