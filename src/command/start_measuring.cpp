// SPDX-License-Identifier: Apache-2.0
// What measures is another program: see measuring.hpp.
#include <fmt/format.h>

#include <filesystem>

#include "command/measuring.hpp"
#include "command/restart.hpp"
#include "command/why/why_measured.hpp"

namespace coset::cli {
namespace {

namespace fs = std::filesystem;

/// Beside this program, as in a build, or where an installation has it.
[[noreturn]] void start_measuring() {
  fs::path const here = fs::read_symlink("/proc/self/exe").parent_path();
  fs::path const beside = here / "coset-measure", installed = here / COSET_MEASURE_FROM_HERE / "coset-measure";
  for (auto const& program : {beside, installed})
    if (fs::exists(program)) start_instead(program.string());
  throw error(
      fmt::format("to measure takes the program coset-measure, and there is neither {} nor {}; a build with "
                  "-DCOSET_BUILD_TOOLS=ON makes it, unless for sanitizers",
                  beside.string(), installed.lexically_normal().string()));
}

}  // namespace

void measure_bench(bench_arguments const&) { start_measuring(); }
void measure_tune(tune_arguments const&) { start_measuring(); }
std::vector<measured_plan> measure_plans(plans_to_measure const&) { start_measuring(); }

}  // namespace coset::cli
