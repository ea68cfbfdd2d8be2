// SPDX-License-Identifier: Apache-2.0
// The subcommands of the lab, as command/commands.hpp has the others.
#pragma once

#include <CLI/CLI.hpp>

namespace coset::cli {

void add_generate(CLI::App&);
void add_cost(CLI::App&);
void add_search(CLI::App&);
void add_simulate(CLI::App&);
void add_reproduce(CLI::App&);

}  // namespace coset::cli
