// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi/loops/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace coset::measure {
namespace {

constexpr std::size_t most_cycles = 2000, most_samples = 16;  // per turn

/// Each cycle differs from the two before: a result that has not changed is wrong.
double weight_of(std::size_t cycle) { return static_cast<double>(1 + cycle % 3); }

/// What totals have to be, found without threads, and by an MPI_Allreduce of its own.
class right_total {
 public:
  explicit right_total(loop_cell const& cell) : values_(cell.length()) {
    for (std::size_t t = 0; t < cell.threads(); ++t) cell.add(t, 1, values_.data());
    sum_in_place(values_.data(), values_.size(), MPI_COMM_WORLD);
    sum_ = read_sum(values_.data(), values_.size());
  }

  double sum() const { return sum_; }

  /// Elements of this process that are wrong after a cycle of this weight.
  std::size_t wrong(hybrid_way const& way, double weight) const {
    std::size_t found = 0;
    for (double const* const total : way.totals())
      for (std::size_t i = 0; i < values_.size(); ++i) found += total[i] != weight * values_[i] ? 1 : 0;
    return found;
  }

 private:
  std::vector<double> values_;
  double sum_ = 0;
};

class game {
 public:
  explicit game(loop_cell const& cell) : cell_(cell), right_(cell) {}

  /// Nanoseconds per cycle of up to 16 parts of a turn; notes in `figures` what was wrong.
  std::vector<double> turn(hybrid_way& way, std::size_t cycles, way_figures& figures) {
    std::fill_n(cell_.total(), cell_.length(), -1.0);
    std::size_t wrong = 0;
    // At first the caches, and threads that still wait in the runtime, are the contestant's before.
    for (std::size_t k = 0; k < 1 + cycles / 16; ++k) wrong += step(way);
    std::vector<double> spent(std::min(cycles, most_samples));
    cell_.all().wait_for_all();
    double begin = MPI_Wtime();
    for (std::size_t s = 0; s < spent.size(); ++s) {
      std::size_t const of_sample = cycles * (s + 1) / spent.size() - cycles * s / spent.size();
      for (std::size_t k = 0; k < of_sample; ++k) wrong += step(way);
      double const end = MPI_Wtime();
      spent[s] = (end - begin) * 1e9 / static_cast<double>(of_sample);
      begin = end;
    }
    wrong += right_.wrong(way, weight_of(played_ - 1));
    figures.wrong += cell_.all().sum(wrong);
    cell_.all().take_largest(spent);
    return spent;
  }

 private:
  /// A cycle, after which the process reads the total; 1 if its sum is wrong.
  std::size_t step(hybrid_way& way) {
    double const weight = weight_of(played_++);
    way.cycle(weight);
    return read_sum(way.totals().front(), cell_.length()) != weight * right_.sum() ? 1 : 0;
  }

  loop_cell const& cell_;
  right_total right_;
  std::size_t played_ = 0;
};

/// A turn of as many cycles as the shortest part so far lets expect. All processes have seen the same.
std::vector<double> next_turn(game& play, hybrid_way& way, turn_options const& options, way_figures& figures) {
  auto const samples = play.turn(way, figures.cycles, figures);
  figures.shortest = std::min(figures.shortest, std::ranges::min(samples));
  figures.cycles = static_cast<std::size_t>(
      std::clamp(options.turn_nanoseconds / figures.shortest, 1.0, static_cast<double>(most_cycles)));
  return samples;
}

/// Decides who plays.
void prepare(game& play, hybrid_ways& ways, turn_options const& options, std::vector<way_figures>& figures) {
  double best = INFINITY;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    figures[w].declined = ways[w]->declines();
    if (!figures[w].declined.empty()) continue;
    for (int k = 0; k < 3; ++k) next_turn(play, *ways[w], options, figures[w]);
    best = std::min(best, figures[w].shortest);
  }
  for (std::size_t w = 1; w < ways.size(); ++w)
    if (figures[w].declined.empty() && options.hopeless > 0 && figures[w].shortest > options.hopeless * best)
      figures[w].declined = fmt::format("takes {:.0f} times as long as the best", figures[w].shortest / best);
}

double judged(std::vector<double> const& samples, bool shortest) {
  if (shortest) return std::ranges::min(samples);
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

}  // namespace

std::vector<way_figures> play_turns(hybrid_ways& ways, loop_cell const& cell, turn_options const& options) {
  game play(cell);
  std::vector<way_figures> figures(ways.size());
  prepare(play, ways, options, figures);
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (std::size_t k = 0; k < ways.size(); ++k) {
      std::size_t const w = (round + k) % ways.size();  // nobody always begins
      if (figures[w].declined.empty())
        figures[w].rounds.push_back(judged(next_turn(play, *ways[w], options, figures[w]), options.shortest));
    }
  }
  return figures;
}

}  // namespace coset::measure
