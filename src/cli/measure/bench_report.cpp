// SPDX-License-Identifier: Apache-2.0
// The tables of `coset bench`.
#include "cli/measure/bench_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <numeric>

#include "cli/bytes.hpp"
#include "cli/interruption.hpp"
#include "environment/variables.hpp"
#include "kernels/kernels.hpp"

namespace coset::cli {
namespace {

std::string microseconds(double nanoseconds) {
  double const us = nanoseconds / 1000;
  return fmt::format("{:.{}f}", us, us < 10 ? 3 : us < 1000 ? 1 : 0);
}

/// At least two digits, even for ratios far below one.
std::string ratio(double r) { return fmt::format("{:.{}f}", r, r < 0.1 ? 4 : 2); }

/// Not a collective: one flag round, or its traffic alone.
bool is_reference(measure::row const& r) { return r.player->family() == "reference"; }

/// Being slower than a reference is no defeat: no verdict, but the number of line transfers that the time amounts to.
std::string ratio_cell(measure::row const& r, double one_way) {
  if (!r.against_coset) return {};
  auto const& c = *r.against_coset;
  auto const text = fmt::format("{} [{}, {}]", ratio(c.ratio), ratio(c.low), ratio(c.high));
  if (!is_reference(r)) return fmt::format("{} {}", text, name_of(c.verdict));
  return one_way > 0 ? fmt::format("{}; {:.1f} one-way latencies", text, r.time.median / one_way) : text;
}

/// "0.92 5.1x": a rival's time, and its ratio to coset's. Marked unless the verdict is "faster".
std::string summary_cell(measure::row const& r) {
  if (!r.against_coset || is_reference(r)) return microseconds(r.time.median);
  char const* mark = "";
  if (r.against_coset->verdict == measure::verdict::undecided) mark = "?";
  if (r.against_coset->verdict == measure::verdict::slower) mark = "!";
  return fmt::format("{} {:.2f}x{}", microseconds(r.time.median), 1 / r.against_coset->ratio, mark);
}

std::vector<std::vector<std::string>> summary_cells(std::vector<measure::measurement> const& all,
                                                    std::vector<measure::contestant*> const& players) {
  std::vector<std::vector<std::string>> table{{"size", "state"}};
  for (auto const* player : players) table[0].push_back(player->name());
  for (auto const& m : all) {
    auto& line = table.emplace_back(std::vector<std::string>(table[0].size(), "-"));
    line[0] = bytes_for_people(m.shape.bytes());
    if (m.states.empty()) continue;
    line[1] = m.states[0].state;
    for (auto const& row : rows_of(m, m.states[0], players)) {
      auto const at = std::find(players.begin(), players.end(), row.player) - players.begin();
      line[static_cast<std::size_t>(at) + 2] = summary_cell(row);
    }
  }
  return table;
}

}  // namespace

std::string bench_preamble(bench_setting const& s) {
  bool const cycle = s.options.timing == measure::timing::cycle;
  auto const policy = environment::value("OMP_WAIT_POLICY");
  return fmt::format(
      "# coset {}: {} ranks on processors {}, {}\n"
      "# time: {}; contestants take turns in {} rounds\n"
      "# ratio: coset's time / the rival's, median of the rounds with a bootstrap 95 % interval; slower: all above {}\n"
      "# rivals: pinned like coset's ranks, asleep while others run, no region start timed except oneTBB's;\n"
      "#   OMP_WAIT_POLICY={}; coset, omp copies, private, ips and push, tbb push, std::barrier and flags give private "
      "results, the others "
      "shared ones\n",
      s.verb, s.ranks, fmt::join(s.processors, " "), kernels::instruction_set(),
      cycle ? "one cycle of: owner rewrites its input, collective, every rank reads the whole result"
            : "the call alone after an untimed barrier, averaged over ranks",
      s.options.rounds, measure::tolerance, policy.empty() ? "(unset)" : policy);
}

std::string bench_column_heads() {
  return fmt::format("#{:>9} {:>9} {:>6} {:>5}  {:<14} {:>9} {:>9} {:>9} {:>8} {:>8} {:>6}  {}\n", "size", "count",
                     "type", "op", "who", "time", "min", "p99", "algbw", "busbw", "#wrong", "ratio [95 %] verdict") +
         fmt::format("#{:>9} {:>9} {:>6} {:>5}  {:<14} {:>9} {:>9} {:>9} {:>8} {:>8}\n", "(B)", "(items)", "", "", "",
                     "(us)", "(us)", "(us)", "(GB/s)", "(GB/s)");
}

std::string bench_rows(measure::measurement const& m, std::vector<measure::contestant*> const& players) {
  std::string text;
  if (m.states.empty())
    text += fmt::format("# {} B: no round without a change of the machine's state\n", m.shape.bytes());
  for (auto const& state : m.states) {
    text += fmt::format("# {} B, {}: {} rounds, one-way latency {:.0f} ns, {} rounds dropped\n", m.shape.bytes(),
                        state.state, state.rounds, state.one_way, m.dropped);
    auto const rows = rows_of(m, state, players);
    for (auto const& r : rows) {
      text += fmt::format(
          "{:>10} {:>9} {:>6} {:>5}  {:<14} {:>9} {:>9} {:>9} {:>8} {:>8} {:>6}  {}\n", m.shape.bytes(), m.shape.count,
          measure::name_of(m.shape.element), measure::name_of(m.shape.operation), r.player->name(),
          microseconds(r.time.median), microseconds(r.time.minimum), microseconds(r.time.p99),
          is_reference(r) ? "-" : fmt::format("{:.3f}", r.algorithm_bandwidth),
          is_reference(r) ? "-" : fmt::format("{:.3f}", r.bus_bandwidth), r.wrong, ratio_cell(r, state.one_way));
    }
    auto const& least = least_of(rows);
    text += fmt::format("# least of all: {} us, {}\n", microseconds(least.time.median), least.player->name());
  }
  return text;
}

std::string bench_summary(std::vector<measure::measurement> const& all,
                          std::vector<measure::contestant*> const& players) {
  auto const table = summary_cells(all, players);
  std::vector<std::size_t> width(table[0].size(), 0);
  for (auto const& line : table) {
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  }
  std::string text = "\nMedian time in us, and how many times coset's it is (!: coset is slower, ?: undecided)\n";
  for (auto const& line : table) {
    for (std::size_t c = 0; c < line.size(); ++c) text += fmt::format("{:>{}}  ", line[c], width[c]);
    text.back() = '\n';
  }
  return text;
}

std::size_t wrong_in(std::vector<measure::measurement> const& all) {
  std::size_t wrong = 0;
  for (auto const& m : all) wrong = std::accumulate(m.wrong.begin(), m.wrong.end(), wrong);
  return wrong;
}

void report_interrupt(std::size_t measured, std::size_t asked) {
  show_progress("");
  std::cerr << fmt::format("coset: interrupted, {} of {} measured\n", measured, asked);
}

void finish(std::size_t wrong) {
  if (wrong > 0) {
    std::cerr << fmt::format("coset: {} wrong items\n", wrong);
    throw CLI::RuntimeError(1);
  }
  if (int const status = interrupted_status(); status != 0) throw CLI::RuntimeError(status);
}

void show_progress(std::string const& text) {
  static bool const terminal = isatty(STDERR_FILENO) == 1;
  if (terminal) std::cerr << "\r\033[K" << text;
}

}  // namespace coset::cli
