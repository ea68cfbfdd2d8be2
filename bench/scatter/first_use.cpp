// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "bench/scatter/playing.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/machine/clock.hpp"
#include "coset/error.hpp"

namespace coset::measure {
namespace {

using nlohmann::ordered_json;

/// Those that a program would use once: nobody keeps anything yet, so what is kept and what is made anew are the same.
constexpr char const* players[] = {"coset",
                                   "serial",
                                   "omp atomic",
                                   "scan, compacting",
                                   "private, kept",
                                   "omp clause",
                                   "partition 2^14",
                                   "partition 2^16",
                                   "partition 2^18",
                                   "partition 2^16, lines",
                                   "hash maps",
                                   "coset sparse, kept",
                                   "coset dense, kept"};

/// What a process of its own says of one way; nothing if it does not play it. Throws error if that failed.
std::optional<double> ask(cell const& what, std::string const& way, std::size_t threads) {
  auto const command =
      fmt::format("/proc/{}/exe --threads {} --cell {} --once '{}'", getpid(), threads, what.name(), way);
  std::FILE* const answers = popen(command.c_str(), "r");
  if (answers == nullptr) throw error(fmt::format("cannot start {}", command));
  double found = 0;
  int const read = std::fscanf(answers, "%lf", &found);
  int const ended = pclose(answers);
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) throw error(fmt::format("this failed: {}", command));
  return read == 1 ? std::optional(found) : std::nullopt;
}

ordered_json rows_of(std::vector<std::vector<double>> const& times) {
  ordered_json rows = ordered_json::array();
  for (std::size_t p = 0; p < times.size(); ++p) {
    if (times[p].empty()) continue;
    comparison const c = compare(times[0], times[p]);
    rows.push_back({{"who", players[p]},
                    {"median_ns", median(times[p])},
                    {"rounds_ns", times[p]},
                    {"coset_faster", {{"median", 1 / c.ratio}, {"low", 1 / c.high}, {"high", 1 / c.low}}}});
    fmt::print("  {:<24}{:>14.2f}{:>9.2f}x [{:.2f}, {:.2f}]\n", players[p], median(times[p]) / 1e3, 1 / c.ratio,
               1 / c.high, 1 / c.low);
  }
  std::fflush(stdout);
  return rows;
}

}  // namespace

bool play_once(cell const& what, std::string const& name, std::vector<unsigned> const& processors) {
  scatter_threads threads(processors);
  return with_work_of(what, processors.size(), [&](auto& work) {
    auto const ways = all_ways(work, threads.count());
    auto const way = std::ranges::find(ways, name, &scatter_way::name);
    if (way == ways.end()) return true;
    threads.run(*way, [&] {
      auto const begin = ticks();
      way->step();
      auto const spent = ticks_since(begin);  // before the clock is compared with another
      fmt::print("{}\n", static_cast<double>(spent) * nanoseconds_per_tick());
    });
    return work.wrong_after(1) == 0 && work.wrong_anywhere() == 0;
  });
}

bool play_first_uses(std::vector<cell> const& cells, std::size_t threads, std::size_t rounds, ordered_json& results) {
  for (cell const& what : cells) {
    std::vector<std::vector<double>> times(std::size(players));
    for (std::size_t round = 0; round < rounds; ++round)
      for (std::size_t k = 0; k < std::size(players); ++k) {
        std::size_t const p = (round + k) % std::size(players);
        if (auto const found = ask(what, players[p], threads)) times[p].push_back(*found);
      }
    fmt::print("{} threads, {}, {} updates, first use of a process, {} rounds\n", threads, what.name(), what.updates,
               rounds);
    results.push_back({{"threads", threads}, {"cell", what.name()}, {"first_use", true}, {"rows", rows_of(times)}});
  }
  return true;
}

}  // namespace coset::measure
