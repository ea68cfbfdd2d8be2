// SPDX-License-Identifier: Apache-2.0
// The options by which several subcommands name a schedule.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "schedule/algorithm.hpp"

namespace coset::cli {

/// An algorithm's text and the shorthands for its parameters.
struct schedule_options {
  std::string algorithm, collective = "allreduce";
  rank_t ranks = 0, root = 0;
  std::string radix, saved_steps, group, tree;
  std::vector<std::string> nodes;

  void add_to(CLI::App&);

  /// Throws schedule_error for whatever make() refuses and for a parameter that is given twice.
  schedule::schedule make() const;
};

}  // namespace coset::cli
