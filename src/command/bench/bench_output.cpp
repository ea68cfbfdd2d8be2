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

/// Of times in ns.
constexpr look in_us{.unit = "us", .scale = 1e-3};

/// Not a collective: one flag round, or its traffic alone.
bool is_reference(measure::row const& r) { return r.player->family() == "reference"; }

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

/// How many times faster coset is; marked unless it is faster or as fast.
std::string summary_cell(measure::row const& r) {
  auto const& c = *r.against_coset;
  char const* mark = " ";
  if (c.verdict == measure::verdict::undecided) mark = "?";
  if (c.verdict == measure::verdict::slower) mark = "!";
  return times_faster(advantage_of(c).median) + mark;
}

/// As commands take it.
std::string argument(std::size_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{}M", bytes >> 20);
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return fmt::format("{}K", bytes >> 10);
  return fmt::format("{}", bytes);
}

/// A row for each size, a column for each rival, "omp" above "private". References are no rivals.
table summary_of(bench_results const& r) {
  table made;
  made.with(as::bytes, {"size"})
      .with(as::numbers, {"cores"})
      .with({.scale = 1e-3}, "coset\nus", r.players.front()->name());
  for (auto const* const player : r.players) {
    if (player == r.players.front() || player->family() == "reference") continue;
    auto name = player->name() + ' ';  // above the times, not the marks
    if (auto const space = name.find(' '); space + 1 < name.size()) name[space] = '\n';
    made.with(as::numbers, name, player->name());
  }
  for (auto const& m : r.sizes) {
    table::row row{{"size", m.shape.bytes()}};
    for (auto const* const player : r.players) row[player->name()] = "- ";
    if (!m.states.empty()) {
      row["cores"] = state_in_words(m.states[0].state);
      for (auto const& each : rows_of(m, m.states[0], r.players))
        row[each.player->name()] =
            each.player == r.players.front() ? table::row(each.time.median) : table::row(summary_cell(each));
    }
    made.add(std::move(row));
  }
  return made;
}

/// These are repeated in each part.
constexpr std::size_t first_columns = 3;

}  // namespace

std::string bench_preamble(bench_setting const& s) {
  auto const policy = environment::value("OMP_WAIT_POLICY");
  return fmt::format("# coset {}: {} ranks on processors {}, {}\n", s.verb, s.ranks, fmt::join(s.processors, " "),
                     instruction_set_in_words(kernels::instruction_set())) +
         fmt::format("# time: {}; all take turns in {} rounds\n", in_words(s.options.timing), s.options.rounds) +
         fmt::format(
             "# rivals: pinned like coset's ranks, asleep while others run, no region start timed except oneTBB's; "
             "OMP_WAIT_POLICY={}\n"
             "# 1.80×: coset is 1.8 times faster; median of the rounds [95 % interval]; slower: all of it below "
             "{:.2f}×\n",
             policy.empty() ? "(unset)" : policy, 1 / measure::tolerance);
}

table bench_table(bench_results const& r, std::uint64_t largest) {
  char const* const last = r.setting.all_rows ? "coset is faster" : "coset is faster than the best rival";
  auto made = table("# ")
                  .with({.unit = "B"}, {"size"})
                  .with({.unit = "items"}, {"count"})
                  .with(as::words, {"type", "op", "who"})
                  .with(in_us, {"time=median_ns", "min=min_ns", "p99=p99_ns"})
                  .with({.unit = "GB/s", .digits = 3}, {"algbw", "busbw"})
                  .with(as::numbers, {"#wrong=wrong"})
                  .with(as::words, {"cores"})
                  .with(as::words, last, "last");
  constexpr double longest = 1e8, most_gigabytes = 100;  // of most calls
  table::row row{{"size", largest},         {"count", largest},        {"type", "double"},
                 {"median_ns", longest},    {"min_ns", longest},       {"p99_ns", longest},
                 {"algbw", most_gigabytes}, {"busbw", most_gigabytes}, {"cores", "apart"}};
  for (auto const* const player : r.players) {
    if (!r.setting.all_rows && player->family() != "coset") continue;
    row["who"] = player->name();
    made.make_room(row);
  }
  return made;
}

std::string bench_rows(measure::measurement const& m, bench_results const& r, table& like) {
  auto const& s = r.setting;
  auto const& players = r.players;
  std::string text;
  if (m.states.empty())
    text += fmt::format("# {} B: no round without a change of the machine's state\n", m.shape.bytes());
  for (auto const& state : m.states) {
    auto const rows = rows_of(m, state, players);
    auto const words = state_in_words(state.state);
    if (s.all_rows)
      text += fmt::format("# {} B, {}: {} rounds, one-way latency {:.0f} ns, {} rounds dropped\n", m.shape.bytes(),
                          words, state.rounds, state.one_way, m.dropped);
    for (auto const& each : rows) {
      if (!s.all_rows && each.player->family() != "coset") continue;
      bool const beside_best = !s.all_rows && each.player == players[0];
      auto row = bench_row(r, m, state, each);
      row["cores"] = words;
      row["last"] = beside_best ? best_cell(best_rival(rows, m.shape.what)) : last_cell(each, state.one_way);
      if (is_reference(each)) row["algbw"] = row["busbw"] = nullptr;
      like.make_room(row);
      text += like.line(row);
    }
    if (!s.all_rows) continue;
    auto const& least = least_of(rows);
    text += fmt::format("# least of all: {:.3f} us, {}\n", least.time.median / 1000, least.player->name());
  }
  return text;
}

std::string bench_summary(bench_results const& r, std::size_t columns) {
  std::string text = "\nHow many times faster coset is than each (!: it is slower, ?: undecided)\n";
  text += summary_of(r).in_parts(columns, first_columns);
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
  auto next = table("  ").with(as::words, {"command", "what"});
  auto const add = [&](std::string const& command, std::string const& what) {
    next.add({{"command", command}, {"what", "# " + what}});
  };
  if (worst != nullptr)
    add(fmt::format("coset why {} {} --ranks {}", r.setting.verb, argument(worst->shape.bytes()), r.setting.ranks),
        "why the size with the least advantage gets its plan");
  if (page.empty())
    add(fmt::format("coset bench {} --report report.html", r.setting.verb),
        "all of this as a page; --json, --csv: as data; --all: the times of each rival");
  else
    add(fmt::format("xdg-open {}", page), "all of this as a page");
  return "\nNext:\n" + next.lines();
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
