// SPDX-License-Identifier: Apache-2.0
#include "lab/search/wide_search.hpp"

#include <algorithm>
#include <utility>

namespace coset::schedule {
namespace {

constexpr double equal_within = 1e-9;

/// The shifts of one step, and the least that it takes one way.
struct wide_step {
  std::vector<element> shifts;
  double least;
};

class wide_searching {
 public:
  wide_searching(step_prices const& prices, wide_limits const& limits)
      : prices_(prices), limits_(limits), p_(prices.ranks().order()), is_reached_(p_, false) {
    result_.best.seconds = limits.below;
  }

  wide_result run() && {
    if (p_ == 1) {
      result_.best.seconds = 0;
      result_.is_proved = true;
      return std::move(result_);
    }
    for (rank_t radix = 2; radix <= limits_.most_radix && goes_on(); ++radix) {
      for (auto const& shifts : usual_chains(prices_.ranks(), radix)) {
        if (shifts.size() <= limits_.most_steps) look_at(in_radix(prices_.ranks(), shifts, radix));
      }
    }
    if (!make_moves()) return std::move(result_);
    for (std::size_t steps = 1; steps <= limits_.most_steps && goes_on_; ++steps) {
      reached_ = {0};
      extend(steps, 0);
    }
    result_.is_proved = goes_on_;
    return std::move(result_);
  }

 private:
  bool goes_on() { return goes_on_ = goes_on_ && limits_.goes_on(); }
  bool is_cheaper(double seconds) const { return seconds < result_.best.seconds * (1 - equal_within); }

  /// All steps, cheap ones first, and the least volume: P − 1 blocks have to get to every rank on the way there, and
  /// several shifts share them. False if the time is over.
  bool make_moves() {
    double least_slope = std::numeric_limits<double>::infinity();
    group const& g = prices_.ranks();
    for (element s = 1; s < p_; ++s) {
      if (!goes_on()) return false;
      least_slope = std::min(least_slope, prices_.slope(s));
      for (rank_t radix = 2; radix <= std::min(limits_.most_radix, p_); ++radix) {
        for (rank_t behind = 0; 2 * behind < radix; ++behind) add_move(multiples(g, s, radix - 1 - behind, behind));
      }
    }
    std::ranges::stable_sort(moves_, {}, &wide_step::least);
    least_volume_ = (p_ - 1) * least_slope / 2 / std::max<rank_t>(1, limits_.most_radix - 1);
    return true;
  }

  static std::vector<element> multiples(group const& g, element s, rank_t ahead, rank_t behind) {
    std::vector<element> all;
    element const back = g.negate(s);
    for (element sum = back; all.size() < behind; sum = g.add(sum, back)) all.push_back(sum);
    for (element sum = s; all.size() < std::size_t{ahead} + behind; sum = g.add(sum, s)) all.push_back(sum);
    return all;
  }

  /// Unless it has a shift twice, or none: fewer would do.
  void add_move(std::vector<element> shifts) {
    auto sorted = shifts;
    std::ranges::sort(sorted);
    if (sorted.front() == 0 || std::ranges::adjacent_find(sorted) != sorted.end()) return;
    double least = 0;
    for (element const s : shifts) least = std::max(least, prices_.fixed(s) / 2);
    moves_.push_back({std::move(shifts), least});
  }

  void extend(std::size_t left, double so_far) {
    if (reached_.size() == p_) {
      look_at({steps_.rbegin(), steps_.rend()});
      return;
    }
    std::uint64_t most = reached_.size();
    for (std::size_t k = 0; k < left && most < p_; ++k) most *= limits_.most_radix;
    if (left == 0 || most < p_) return;
    double const others = static_cast<double>(left - 1) * moves_.front().least;
    for (wide_step const& next : moves_) {
      // Steps that are not saved go both ways, and so do all where none may be saved.
      double const both = (limits_.saves_steps ? 1 : 2) * (so_far + next.least);
      if (!is_cheaper(both + least_volume_)) break;
      if (++tries_ % tries_between_questions == 0 && !goes_on()) return;
      if (!goes_on_) return;
      std::size_t const before = reached_.size();
      if (reach(next)) {
        steps_.push_back(next.shifts);
        bool const is_last = reached_.size() == p_;
        if (is_last || is_cheaper((limits_.saves_steps ? 1 : 2) * (so_far + next.least + others) + least_volume_))
          extend(left - 1, so_far + next.least);
        steps_.pop_back();
      }
      for (std::size_t k = before; k < reached_.size(); ++k) is_reached_[reached_[k]] = false;
      reached_.resize(before);
    }
  }

  /// False if a shift reaches nothing new.
  bool reach(wide_step const& with) {
    std::size_t const before = reached_.size();
    is_reached_[0] = true;
    for (element const s : with.shifts) {
      for (std::size_t k = 0; k < before; ++k) {
        element const t = prices_.ranks().add(reached_[k], s);
        if (is_reached_[t]) continue;
        is_reached_[t] = true;
        reached_.push_back(t);
      }
    }
    return reached_.size() > before;
  }

  /// With all numbers of saved steps, where it is a chain.
  void look_at(shift_list const& steps) {
    group const& g = prices_.ranks();
    chain made;
    try {
      made = chain_of_all(g, steps);
    } catch (schedule_error const&) {
      return;
    }
    ++result_.looked_at;
    improve(steps, 0, seconds_of(prices_, made));
    auto const most = static_cast<std::uint32_t>(limits_.saves_steps ? made.size() : 0);
    for (std::uint32_t saved = 1; saved <= most; ++saved) {
      if (is_cheaper(least_of(made, saved)) && goes_on())
        improve(steps, saved, prices_.seconds(expand(fold(g, made, made, saved))));
    }
  }

  double least_of(chain const& made, std::uint32_t saved) const {
    double sum = least_volume_;
    for (std::size_t i = 0; i < made.size(); ++i) {
      double one_way = 0;
      for (transfer const& sent : made[i]) one_way = std::max(one_way, prices_.fixed(sent.shift) / 2);
      sum += i + saved < made.size() ? 2 * one_way : one_way;
    }
    return sum;
  }

  void improve(shift_list const& steps, std::uint32_t saved, double seconds) {
    if (!is_cheaper(seconds)) return;
    result_.best = {steps, saved, seconds};
    if (limits_.found) limits_.found(result_.best);
  }

  static constexpr std::uint64_t tries_between_questions = 1 << 10;

  step_prices const& prices_;
  wide_limits const& limits_;
  rank_t const p_;
  std::vector<wide_step> moves_;  // the least first
  double least_volume_ = 0;
  shift_list steps_;              // the last one first
  std::vector<element> reached_;  // by sums of them
  std::vector<char> is_reached_;  // [element]
  std::uint64_t tries_ = 0;
  bool goes_on_ = true;
  wide_result result_;
};

}  // namespace

wide_result search_wide(step_prices const& prices, wide_limits const& limits) {
  return wide_searching(prices, limits).run();
}

}  // namespace coset::schedule
