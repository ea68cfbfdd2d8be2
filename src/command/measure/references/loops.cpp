// SPDX-License-Identifier: Apache-2.0
#include "command/measure/references/loops.hpp"

#include <coset/coset.hpp>

#include <algorithm>
#include <cstdint>
#include <random>

#include "command/measure/machine/clock.hpp"
#include "command/measure/machine/parking.hpp"
#include "command/measure/references/own_team.hpp"

namespace coset::measure {
namespace {

template <class T>
class loop_played {
 public:
  explicit loop_played(update_loop const& of) : target_(of.length), expected_(of.length), keys_(of.updates) {
    std::mt19937_64 random(of.updates);
    for (auto& key : keys_) key = static_cast<std::uint32_t>(random() % of.length);
    if (!of.counts)
      for (std::size_t i = 0; i < of.updates; ++i) weights_.push_back(static_cast<T>(i % 8));  // sums are exact
    plain(expected_);
  }

  /// `update(target)` is timed, after one call that is not.
  template <class Update>
  loop_times play(std::size_t rounds, Update update) {
    loop_times found;
    for (std::size_t k = 0; k <= rounds; ++k) {
      std::ranges::fill(target_, T{});
      auto const begin = ticks();
      update(target_);
      auto const spent = static_cast<double>(ticks_since(begin)) * nanoseconds_per_tick();
      if (k > 0) found.nanoseconds.push_back(spent);
      for (std::size_t i = 0; i < target_.size(); ++i) found.wrong += target_[i] != expected_[i];
    }
    return found;
  }

  void plain(std::vector<T>& target) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) target[keys_[i]] += weights_.empty() ? T{1} : weights_[i];
  }
  void shared(team& by, std::vector<T>& target) const {
    if (weights_.empty())
      scatter_add(by, target, keys_);
    else
      scatter_add(by, target, keys_, weights_);
  }

 private:
  std::vector<T> target_, expected_;
  std::vector<std::uint32_t> keys_;
  std::vector<T> weights_;
};

template <class T>
loop_times play(update_loop const& of, std::vector<unsigned> const& processors, std::size_t rounds) {
  loop_played<T> loop(of);
  if (processors.size() > 1) {
    team by(team_on(processors));
    return loop.play(rounds, [&](auto& target) { loop.shared(by, target); });
  }
  loop_times found;
  crew(processors).run([&](rank_t) { found = loop.play(rounds, [&](auto& target) { loop.plain(target); }); });
  return found;
}

}  // namespace

loop_times play_loop(update_loop const& of, std::vector<unsigned> const& processors, std::size_t rounds) {
  return of.counts ? play<std::uint32_t>(of, processors, rounds) : play<double>(of, processors, rounds);
}

}  // namespace coset::measure
