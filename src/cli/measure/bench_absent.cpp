// SPDX-License-Identifier: Apache-2.0
// `coset bench` and `coset tune` in a build without rivals: they say so.
#include "cli/commands.hpp"
#include "coset/error.hpp"

namespace coset::cli {

namespace {

void add_absent(CLI::App& app, char const* name) {
  auto& command = *app.add_subcommand(name, "Not in this build: needs COSET_BUILD_BENCHMARKS=ON");
  command.allow_extras();
  command.callback([] { throw error("built without benchmarks: configure with -DCOSET_BUILD_BENCHMARKS=ON"); });
}

}  // namespace

void add_bench(CLI::App& app) { add_absent(app, "bench"); }
void add_tune(CLI::App& app) { add_absent(app, "tune"); }

}  // namespace coset::cli
