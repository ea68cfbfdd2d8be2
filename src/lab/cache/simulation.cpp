// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text/format.hpp"
#include "lab/cache/event_loop.hpp"

namespace coset::cache {
namespace {

double latest(std::vector<double> const& times) { return *std::ranges::max_element(times); }
double mean_of(std::vector<double> const& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

/// All kinds of calls have come once before those that count, one of each parity.
constexpr std::int64_t timed = 2;

simulated simulate_calls(machine const& m, work const& w) {
  event_loop loop(m, w);
  simulated result;
  auto const untimed = static_cast<std::int64_t>(w.call.size());
  double now = 0, last = 0, mean = 0;
  for (std::int64_t n = 1; n <= untimed + timed; ++n) {
    loop.run({{&w.writes_input, 0}}, now);
    now = loop.settled();  // all meet
    loop.forget_counts();
    auto const ends = loop.run({{&w.call[static_cast<std::size_t>(n) % w.call.size()], (n - 1) * w.span}}, now).back();
    result = loop.counts();
    if (n > untimed) {
      last += (latest(ends) - now) / timed;
      mean += (mean_of(ends) - now) / timed;
    }
    loop.run({{&w.reads_output, 0}}, loop.settled());
    now = loop.settled();
  }
  result.last = last;
  result.mean = mean;
  return result;
}

/// The second half of so many cycles is timed.
simulated simulate_cycles(machine const& m, work const& w, std::size_t cycles) {
  event_loop loop(m, w);
  std::vector<leg> legs;
  for (std::size_t n = 1; n <= cycles; ++n) {
    legs.push_back({&w.writes_input, 0});
    legs.push_back({&w.call[n % w.call.size()], static_cast<std::int64_t>(n - 1) * w.span});
    legs.push_back({&w.reads_output, 0});
  }
  auto const ends = loop.run(legs, 0);
  auto const half = static_cast<double>(cycles / 2);
  auto const &first = ends[legs.size() / 2 - 1], &last = ends.back();
  simulated result = loop.counts();
  result.last = (latest(last) - latest(first)) / half;
  result.mean = (mean_of(last) - mean_of(first)) / half;
  result.acts /= cycles;
  result.events /= cycles;
  for (auto& lines : result.lines) lines /= cycles;
  result.memory_lines /= cycles;
  return result;
}

/// Where a link is what all wait for, some ranks get ahead of others, and what the last one takes is no period until they
/// get no further.
simulated simulate_steady_cycles(machine const& m, work const& w) {
  constexpr std::size_t fewest = 4, most = 32;
  constexpr double drift = 0.01;
  for (std::size_t cycles = fewest;; cycles *= 2) {
    simulated const found = simulate_cycles(m, w, cycles);
    if (cycles == most || std::abs(found.last - found.mean) <= drift * found.last) return found;
  }
}

}  // namespace

simulated simulate(machine const& m, work const& w, timing what) {
  auto const require = [&](std::vector<script> const& scripts) {
    if (scripts.size() != m.ranks())
      throw argument_error(text::format("scripts of {} ranks on a machine of {}", scripts.size(), m.ranks()));
  };
  require(w.writes_input);
  std::ranges::for_each(w.call, require);
  require(w.reads_output);
  return what == timing::call ? simulate_calls(m, w) : simulate_steady_cycles(m, w);
}

}  // namespace coset::cache
