// SPDX-License-Identifier: Apache-2.0
// The tables of `coset bench`.
#include "command/bench/bench_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <numeric>

#include "base/environment/variables.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "command/interruption.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::cli {
namespace {

std::string microseconds(double nanoseconds) {
  double const us = nanoseconds / 1000;
  return fmt::format("{:.{}f}", us, us < 10 ? 3 : us < 1000 ? 1 : 0);
}

/// Not a collective: one flag round, or its traffic alone.
bool is_reference(measure::row const& r) { return r.player->family() == "reference"; }

/// "1.80× [1.71, 1.88]".
std::string with_interval(measure::comparison const& c) {
  auto const found = advantage_of(c);
  return fmt::format("{} [{:.2f}, {:.2f}]", times_faster(found.median), found.low, found.high);
}

/// Being slower than a reference is no defeat: no verdict, but the number of line transfers that the time amounts to.
std::string last_cell(measure::row const& r, double one_way) {
  if (!r.against_coset) return {};
  if (!is_reference(r))
    return fmt::format("{}, {}", with_interval(*r.against_coset), name_of(r.against_coset->verdict));
  return one_way > 0 ? fmt::format("{:.1f} one-way latencies", r.time.median / one_way) : std::string{};
}

std::string best_cell(measure::row const* best) {
  if (best == nullptr) return {};
  return fmt::format("{} {}, {}", with_interval(*best->against_coset), best->player->name(),
                     name_of(best->against_coset->verdict));
}

std::string row_text(measure::measurement const& m, measure::row const& r, std::string const& state,
                     std::string const& last) {
  bool const moves = !is_reference(r);
  return fmt::format("{:>10} {:>9} {:>6} {:>6}  {:<15} {:>9} {:>9} {:>9} {:>8} {:>8} {:>6}  {:<9} {}\n",
                     m.shape.bytes(), m.shape.count, measure::name_of(m.shape.element),
                     measure::name_of(m.shape.operation), r.player->name(), microseconds(r.time.median),
                     microseconds(r.time.minimum), microseconds(r.time.p99),
                     moves ? fmt::format("{:.3f}", r.algorithm_bandwidth) : "-",
                     moves ? fmt::format("{:.3f}", r.bus_bandwidth) : "-", r.wrong, state, last);
}

/// How many times faster coset is; marked unless it is faster or as fast.
std::string summary_cell(measure::row const& r) {
  auto const& c = *r.against_coset;
  char const* mark = " ";
  if (c.verdict == measure::verdict::undecided) mark = "?";
  if (c.verdict == measure::verdict::slower) mark = "!";
  return times_faster(advantage_of(c).median) + mark;
}

using cells = std::vector<std::string>;

/// As commands take it.
std::string argument(std::size_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{}M", bytes >> 20);
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return fmt::format("{}K", bytes >> 10);
  return fmt::format("{}", bytes);
}

/// Two lines of heads, "omp" above "private", then a line for each size. References are no rivals.
std::vector<cells> summary_cells(bench_results const& r) {
  std::vector<cells> table{{"", "", "coset"}, {"size", "cores", "us"}};
  std::vector<std::size_t> column(r.players.size(), 0);
  for (std::size_t p = 1; p < r.players.size(); ++p) {
    if (r.players[p]->family() == "reference") continue;
    column[p] = table[0].size();
    auto const& name = r.players[p]->name();
    auto const space = name.find(' ');
    table[0].push_back(space == std::string::npos ? "" : name.substr(0, space));
    table[1].push_back(name.substr(space == std::string::npos ? 0 : space + 1));
  }
  for (auto const& m : r.sizes) {
    auto& line = table.emplace_back(table[0].size(), "- ");
    line[0] = bytes_for_people(m.shape.bytes());
    if (m.states.empty()) continue;
    line[1] = state_in_words(m.states[0].state);
    for (auto const& row : rows_of(m, m.states[0], r.players)) {
      auto const at = static_cast<std::size_t>(std::ranges::find(r.players, row.player) - r.players.begin());
      if (at == 0) line[2] = microseconds(row.time.median);
      if (column[at] > 0) line[column[at]] = summary_cell(row);
    }
  }
  return table;
}

std::vector<std::size_t> widths_of(std::vector<cells> const& table) {
  std::vector<std::size_t> widths(table[0].size(), 0);
  for (auto const& line : table)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], columns_of(line[c]));
  return widths;
}

/// The first columns are repeated in each part.
constexpr std::size_t repeated = 3;

std::string part_of(std::vector<cells> const& table, std::vector<std::size_t> const& widths, std::size_t begin,
                    std::size_t end) {
  std::string text;
  for (auto const& line : table) {
    std::string row;
    for (std::size_t c = 0; c < end; ++c)
      if (c < repeated || c >= begin) row += std::string(widths[c] + 1 - columns_of(line[c]), ' ') + line[c] + ' ';
    text += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string in_parts(std::vector<cells> const& table, std::size_t columns) {
  auto const widths = widths_of(table);
  auto const fixed = std::accumulate(widths.begin(), widths.begin() + repeated, 2 * repeated);
  std::string text;
  for (std::size_t begin = repeated, end = begin; begin < widths.size(); begin = end) {
    std::size_t taken = fixed;
    do taken += widths[end++] + 2;
    while (end < widths.size() && taken + widths[end] + 2 <= columns);
    text += (text.empty() ? "" : "\n") + part_of(table, widths, begin, end);
  }
  return text.empty() ? part_of(table, widths, repeated, repeated) : text;
}

}  // namespace

std::string bench_preamble(bench_setting const& s) {
  bool const cycle = s.options.timing == measure::timing::cycle;
  auto const policy = environment::value("OMP_WAIT_POLICY");
  return fmt::format("# coset {}: {} ranks on processors {}, {}\n", s.verb, s.ranks, fmt::join(s.processors, " "),
                     instruction_set_in_words(kernels::instruction_set())) +
         fmt::format("# time: {}; all take turns in {} rounds\n",
                     cycle ? "one cycle of {owners rewrite their input, collective, every rank reads the whole result}"
                           : "the call alone after an untimed barrier, averaged over ranks",
                     s.options.rounds) +
         fmt::format(
             "# rivals: pinned like coset's ranks, asleep while others run, no region start timed except oneTBB's; "
             "OMP_WAIT_POLICY={}\n"
             "# 1.80×: coset is 1.8 times faster; median of the rounds [95 % interval]; slower: all of it below "
             "{:.2f}×\n",
             policy.empty() ? "(unset)" : policy, 1 / measure::tolerance);
}

std::string bench_column_heads(bench_setting const& s) {
  return fmt::format("#{:>9} {:>9} {:>6} {:>6}  {:<15} {:>9} {:>9} {:>9} {:>8} {:>8} {:>6}  {:<9} {}\n", "size",
                     "count", "type", "op", "who", "time", "min", "p99", "algbw", "busbw", "#wrong", "cores",
                     s.all_rows ? "coset is faster" : "coset is faster than the best rival") +
         fmt::format("#{:>9} {:>9} {:>6} {:>6}  {:<15} {:>9} {:>9} {:>9} {:>8} {:>8}\n", "(B)", "(items)", "", "", "",
                     "(us)", "(us)", "(us)", "(GB/s)", "(GB/s)");
}

std::string bench_rows(measure::measurement const& m, bench_setting const& s,
                       std::vector<measure::contestant*> const& players) {
  std::string text;
  if (m.states.empty())
    text += fmt::format("# {} B: no round without a change of the machine's state\n", m.shape.bytes());
  for (auto const& state : m.states) {
    auto const rows = rows_of(m, state, players);
    auto const words = state_in_words(state.state);
    if (s.all_rows)
      text += fmt::format("# {} B, {}: {} rounds, one-way latency {:.0f} ns, {} rounds dropped\n", m.shape.bytes(),
                          words, state.rounds, state.one_way, m.dropped);
    for (auto const& r : rows) {
      bool const own = r.player == players[0];
      if (s.all_rows)
        text += row_text(m, r, words, last_cell(r, state.one_way));
      else if (r.player->family() == "coset")
        text += row_text(m, r, words, own ? best_cell(best_rival(rows, m.shape.what)) : last_cell(r, state.one_way));
    }
    if (!s.all_rows) continue;
    auto const& least = least_of(rows);
    text += fmt::format("# least of all: {} us, {}\n", microseconds(least.time.median), least.player->name());
  }
  return text;
}

std::string bench_summary(bench_results const& r, std::size_t columns) {
  std::string text = "\nHow many times faster coset is than each (!: it is slower, ?: undecided)\n";
  text += in_parts(summary_cells(r), columns);
  if (r.is_partial()) text += fmt::format("partial: {} of {} sizes were measured\n", r.sizes.size(), r.asked);
  return text;
}

std::string bench_hints(bench_results const& r, std::string const& page) {
  measure::measurement const* worst = nullptr;
  double least = 0;
  for (auto const& m : r.sizes) {
    if (m.states.empty()) continue;
    auto const rows = rows_of(m, m.states[0], r.players);
    auto const* const best = best_rival(rows, m.shape.what);
    double const found = best == nullptr ? 0 : advantage_of(*best->against_coset).median;
    if (worst == nullptr || found < least) {
      worst = &m;
      least = found;
    }
  }
  std::string text = "\nNext:\n";
  auto const add = [&](std::string const& command, std::string_view what) {
    text += fmt::format("  {:<42} # {}\n", command, what);
  };
  if (worst != nullptr)
    add(fmt::format("coset why {} {} --ranks {}", r.setting.verb, argument(worst->shape.bytes()), r.setting.ranks),
        "why the size with the least advantage gets its plan");
  if (page.empty())
    add(fmt::format("coset bench {} --report report.html", r.setting.verb),
        "all of this as a page; --json, --csv: as data; --all: the times of each rival");
  else
    add(fmt::format("xdg-open {}", page), "all of this as a page");
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
