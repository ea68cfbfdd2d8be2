// SPDX-License-Identifier: Apache-2.0
// `coset bench` in a build without rivals: says so.
#include "cli/commands.hpp"
#include "coset/error.hpp"

namespace coset::cli {

void add_bench(CLI::App& app) {
  auto& bench = *app.add_subcommand("bench", "Not in this build: needs COSET_BUILD_BENCHMARKS=ON");
  bench.allow_extras();
  bench.callback([] { throw error("built without benchmarks: configure with -DCOSET_BUILD_BENCHMARKS=ON"); });
}

}  // namespace coset::cli
