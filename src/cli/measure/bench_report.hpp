// SPDX-License-Identifier: Apache-2.0
// What `coset bench` prints and writes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/harness/rows.hpp"

namespace coset::cli {

/// What was asked for and on what, once per run.
struct bench_setting {
  std::string verb;
  rank_t ranks = 0;
  std::vector<unsigned> processors;
  measure::round_options options;
};

/// How one measures, in the comment lines that start the output.
std::string bench_preamble(bench_setting const&);
std::string bench_column_heads();

/// The rows of one size, a block per machine state.
std::string bench_rows(measure::measurement const&, std::vector<measure::contestant*> const&);

/// The closing table: one line per size in its most frequent state, one column per contestant.
std::string bench_summary(std::vector<measure::measurement> const&, std::vector<measure::contestant*> const&);

/// Everything above as data; times in nanoseconds, bandwidths in GB/s.
nlohmann::ordered_json bench_json(bench_setting const&, std::vector<measure::measurement> const&,
                                  std::vector<measure::contestant*> const&);

/// As it goes into files. What an interrupted run has measured says so: "interrupted": true.
std::string text_of(nlohmann::ordered_json);

/// Wrong items of all contestants.
std::size_t wrong_in(std::vector<measure::measurement> const&);

/// Tells people how much of what was asked for has been measured.
void report_interrupt(std::size_t measured, std::size_t asked);

/// The end of every benchmark: throws CLI::RuntimeError if results were wrong, after it has said so, or if there was an
/// interrupt.
void finish(std::size_t wrong);

/// A line on standard error that overwrites itself, on a terminal only.
void show_progress(std::string const& text);

}  // namespace coset::cli
