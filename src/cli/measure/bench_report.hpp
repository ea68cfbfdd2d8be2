// SPDX-License-Identifier: Apache-2.0
// The output and the files of `coset bench`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/harness/rows.hpp"

namespace coset::cli {

/// The request and the machine, once per run.
struct bench_setting {
  std::string verb;
  rank_t ranks = 0;
  std::vector<unsigned> processors;
  measure::round_options options;
};

/// The method, in the comment lines that start the output.
std::string bench_preamble(bench_setting const&);
std::string bench_column_heads();

/// The rows of one size, a block per machine state.
std::string bench_rows(measure::measurement const&, std::vector<measure::contestant*> const&);

/// The closing table: one line per size in its most frequent state, one column per contestant.
std::string bench_summary(std::vector<measure::measurement> const&, std::vector<measure::contestant*> const&);

/// Everything above as data; times in nanoseconds, bandwidths in GB/s.
nlohmann::ordered_json bench_json(bench_setting const&, std::vector<measure::measurement> const&,
                                  std::vector<measure::contestant*> const&);

/// The text for files. A file of an interrupted run contains "interrupted": true.
std::string text_of(nlohmann::ordered_json);

/// Wrong items of all contestants.
std::size_t wrong_in(std::vector<measure::measurement> const&);

/// Reports how much of the request has been measured.
void report_interrupt(std::size_t measured, std::size_t asked);

/// The end of every benchmark: if results were wrong, reports it and throws CLI::RuntimeError; throws after an
/// interrupt, too.
void finish(std::size_t wrong);

/// A line on standard error that overwrites itself, on a terminal only.
void show_progress(std::string const& text);

}  // namespace coset::cli
