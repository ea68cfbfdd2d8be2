// SPDX-License-Identifier: Apache-2.0
// The subcommands of `coset`: each registers itself and runs from its callback.
#pragma once

#include <CLI/CLI.hpp>

namespace coset::cli {

// A callback throws coset::error for input that cannot be served (exit status 2, the message on standard error) and
// CLI::RuntimeError(1) after it has reported a wrong result itself.
void add_info(CLI::App&);
void add_bench(CLI::App&);
void add_list(CLI::App&);
void add_plan(CLI::App&);
void add_why(CLI::App&);
void add_tune(CLI::App&);
void add_trace(CLI::App&);
void add_completion(CLI::App&);
void add_manual(CLI::App&);

}  // namespace coset::cli
