// SPDX-License-Identifier: Apache-2.0
// The prober of this machine: a few exchanges of one line, the fastest of some trials.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "planning/calibration/fit.hpp"
#include "planning/calibration/two_threads.hpp"

namespace coset::calibration {
namespace {

using clock = turns::clock;

constexpr std::uint64_t exchanges = 16;  // there and back, per trial
constexpr int trials = 5;                // the fastest counts: interruptions only ever add

/// The side that serves passes odd turns, the other answers with the even ones.
bool play(turns& between, std::uint64_t start, bool serves) {
  for (std::uint64_t turn = start; turn < start + 2 * exchanges; turn += 2) {
    if (serves) between.pass(turn + 1);
    if (!between.come_to(turn + (serves ? 2 : 1))) return false;
    if (!serves) between.pass(turn + 2);
  }
  return true;
}

/// Nanoseconds from one side to the other, if all trials came to an end.
std::optional<double> play_trials(turns& between, bool serves) {
  double best = std::numeric_limits<double>::max();
  for (int t = 0; t < trials; ++t) {
    auto const begin = clock::now();
    if (!play(between, std::uint64_t(t) * 2 * exchanges, serves)) return std::nullopt;
    best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - begin).count());
  }
  return best / (2 * exchanges);
}

}  // namespace

std::optional<double> ping_pong::operator()(unsigned one, unsigned other) {
  if (!deadline_) deadline_ = clock::now() + all_pairs_;
  if (clock::now() > *deadline_) return std::nullopt;
  turns between(*deadline_);
  return found_by_two_threads(
      one, other, [&] { return play_trials(between, true); }, [&] { (void)play_trials(between, false); });
}

}  // namespace coset::calibration
