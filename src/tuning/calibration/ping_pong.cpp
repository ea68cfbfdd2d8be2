// SPDX-License-Identifier: Apache-2.0
// The prober of this machine: a few exchanges of one line, the fastest of some trials.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <system_error>
#include <thread>

#include "numa/binding.hpp"
#include "tuning/calibration/fit.hpp"

namespace coset::tuning {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t exchanges = 16;  // there and back, per trial
constexpr int trials = 5;                // the fastest counts: interruptions only ever add

/// A line between two threads, each of which gives up by itself.
struct alignas(128) table_tennis {
  std::atomic<std::uint64_t> ball{0};
  clock::time_point deadline;

  bool sees(std::uint64_t value) {
    for (int polls = 1; ball.load(std::memory_order_acquire) != value; ++polls) {
      if (polls % 1000 != 0) continue;
      if (clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  /// The side that serves stores odd values, the other answers with the even ones.
  bool play(std::uint64_t start, bool serves) {
    for (std::uint64_t value = start; value < start + 2 * exchanges; value += 2) {
      // Each release store is seen by the acquire load of the other side.
      if (serves) ball.store(value + 1, std::memory_order_release);
      if (!sees(value + (serves ? 2 : 1))) return false;
      if (!serves) ball.store(value + 2, std::memory_order_release);
    }
    return true;
  }

  /// Nanoseconds from one side to the other, if all trials came to an end.
  std::optional<double> play_trials(unsigned on, bool serves) {
    double best = std::numeric_limits<double>::max();
    try {
      numa::bind_this_thread(on);
    } catch (topology_error const&) {
      return std::nullopt;
    }
    for (int t = 0; t < trials; ++t) {
      auto const begin = clock::now();
      if (!play(std::uint64_t(t) * 2 * exchanges, serves)) return std::nullopt;
      best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - begin).count());
    }
    return best / (2 * exchanges);
  }
};

}  // namespace

std::optional<double> ping_pong::operator()(unsigned one, unsigned other) {
  if (!deadline_) deadline_ = clock::now() + all_pairs_;
  if (clock::now() > *deadline_) return std::nullopt;
  numa::saved_mask const mask;
  table_tennis between{.deadline = *deadline_};
  try {
    std::jthread const answering([&] { (void)between.play_trials(other, false); });
    return between.play_trials(one, true);
  } catch (std::system_error const&) {  // no thread to play with: the team that is to be made will say so
    return std::nullopt;
  }
}

}  // namespace coset::tuning
