// SPDX-License-Identifier: Apache-2.0
// The output and the files of `coset bench`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/measure/harness/rows.hpp"
#include "command/table.hpp"

namespace coset::cli {

/// The request and the machine, once per run.
struct bench_setting {
  std::string verb;
  rank_t ranks = 0;
  std::vector<unsigned> processors;
  measure::round_options options;
  bool all_rows = false;  ///< one for each contestant
};

/// What has been measured, of how much.
struct bench_results {
  bench_setting setting;
  std::vector<measure::contestant*> players;
  std::size_t asked = 0;  ///< sizes
  std::vector<measure::measurement> sizes = {};

  bool is_partial() const { return sizes.size() < asked; }
};

/// The method, in the comment lines that start the output.
std::string bench_preamble(bench_setting const&);
/// What files and tables tell of one contestant at one size.
nlohmann::ordered_json bench_row(bench_results const&, measure::measurement const&, measure::state_figures const&,
                                 measure::row const&);

/// Without rows, and as wide as those of such results probably are. They are told as they come.
table bench_table(bench_results const&, std::uint64_t largest);

/// The rows of one size, for each of the machine's states: coset's beside the best rival, or those of all.
std::string bench_rows(measure::measurement const&, bench_results const&, table& like);

/// The closing table: one line per size in its most frequent state, one column per rival, in as many parts as fit so
/// many columns.
std::string bench_summary(bench_results const&, std::size_t columns);

/// What to run next, or the page to look at.
std::string bench_hints(bench_results const&, std::string const& page);

/// Everything above as data; times in nanoseconds, bandwidths in GB/s.
nlohmann::ordered_json bench_json(bench_results const&);

/// A line for each size, state and contestant.
std::string bench_csv(bench_results const&);

/// Notes in a file that less was measured than asked for.
void note_partial(nlohmann::ordered_json&, std::size_t measured, std::size_t asked);

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
