// SPDX-License-Identifier: Apache-2.0
// `coset bench` and `coset tune`: what they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/measure/harness/rounds.hpp"
#include "coset/error.hpp"

namespace coset::cli {

struct wanted_sizes {
  std::vector<std::uint64_t> named;
  bool range_given = false;  ///< any of the following
  std::uint64_t smallest = 8, largest = 64 << 20, factor = 2;
};

/// Measurements other than a verb beside its rivals in one process.
struct other_measurement {
  bool scaling = false, processes = false, regimes = false, regret = false, guidelines = false;
  bool rounds_given = false;  ///< by default they are fewer with `scaling`, `regret` and `guidelines`
  bool verb_given = false;    ///< else the last two take all
  rank_t threads = 1;         ///< of each process
};

/// The table, and the files for results; empty: none.
struct wanted_output {
  bool all_rows = false;  ///< of the table, not only coset's
  std::string json, csv, report;
  std::string scaling;  ///< a file that is read, for the report
  std::string resume;   ///< one of --scaling that is read, completed and written
  std::string beside;   ///< one of --scaling, of another machine
};

struct bench_arguments {
  std::string verb = "allreduce";
  wanted_sizes sizes;
  rank_t ranks = 0;
  std::string type = "float", operation = "sum", timing = "cycle";
  std::vector<std::string> against;  ///< empty: all that are there
  std::vector<std::string> plans;
  measure::calls how;
  other_measurement instead;
  wanted_output output;
  measure::round_options options;
};

struct tune_arguments {
  rank_t ranks = 0;
  std::string output;
};

/// As coset-lab, where it is installed: beside the rivals.
void measure_bench(bench_arguments const&);
void measure_tune(tune_arguments const&);

}  // namespace coset::cli
