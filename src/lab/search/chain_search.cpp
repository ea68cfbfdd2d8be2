// SPDX-License-Identifier: Apache-2.0
#include "lab/search/chain_search.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>
#include <utility>

#include "planning/schedule/groups/chains.hpp"
#include "planning/schedule/groups/covering.hpp"

namespace coset::schedule {
namespace {

/// Sums that differ by less are equal.
constexpr double rounding = 1e-9;
constexpr std::uint64_t tries_between_questions = 1 << 14;
constexpr element shifts_between_questions = 128;
constexpr rank_t many_ranks = 256;

std::uint32_t least_steps(rank_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

}  // namespace

std::vector<std::vector<element>> usual_chains(group const& ranks, rank_t radix) {
  rank_t const p = ranks.order();
  std::vector<std::vector<element>> all;
  auto const add = [&](std::vector<element> shifts) {
    all.push_back(shifts);
    std::ranges::reverse(shifts);
    all.push_back(std::move(shifts));
  };
  auto const add_chain = [&](chain const& steps) {
    std::vector<element> shifts;
    for (auto const& step : steps) shifts.push_back(step.front().shift);
    add(std::move(shifts));
  };
  add(skips(p, radix));
  if (radix == 2) add_chain(interval_chain(p, 2));
  add_chain(dilated_chain(p, radix));
  std::vector<element> swing, digits, rings;
  for (auto const& step : swing_shifts(p)) swing.push_back(step.front());
  if (radix == 2) add(std::move(swing));
  rank_t stride = 1;
  for (rank_t const n : ranks.factors()) {
    for (rank_t const s : skips(n, radix)) digits.push_back(s * stride);
    rings.insert(rings.end(), (n + radix - 3) / (radix - 1), stride);
    stride *= n;
  }
  add(std::move(digits));
  add(std::move(rings));
  return all;
}

namespace {

class searching {
 public:
  searching(step_prices const& prices, search_limits const& limits)
      : prices_(prices),
        limits_(limits),
        p_(prices.ranks().order()),
        commutes_(prices.ranks().commutes()),
        sums_(std::size_t{p_} * p_),
        taken_(p_, 0),
        known_(p_, 0) {
    for (element a = 0; a < p_; ++a)
      for (element b = 0; b < p_; ++b) sums_[a * std::size_t{p_} + b] = prices.ranks().add(a, b);
    result_.best.seconds = limits.below;
  }

  search_result run() && {
    if (p_ == 1) return {{}, limits_.most_steps, true, 0, 0};
    for (auto const& shifts : usual_chains(prices_.ranks())) {
      if (shifts.size() > limits_.most_of_the_field) continue;
      improve(shifts);
      if (p_ > many_ranks && !limits_.goes_on()) break;  // each shift takes time
    }
    if (!price_all()) return std::move(result_);
    result_.bound = std::numeric_limits<double>::infinity();
    std::size_t const most = std::min<std::size_t>(limits_.most_steps, p_ - 1);  // each reaches something new
    for (steps_ = least_steps(p_); steps_ <= most && goes_on_; ++steps_) {
      is_full_ = std::has_single_bit(p_) && steps_ == least_steps(p_);
      sums_so_far_.assign(steps_ + 1, {0});
      cheapest_.assign(steps_ + 1, {});
      result_.bound = std::min(result_.bound, bound(1));
      extend(0, 0);
      if (goes_on_) result_.proved_steps = steps_;
    }
    double const least_fixed = prices_.fixed(by_fixed_.front()), least_slope = prices_.slope(by_slope_.front());
    double const longer = static_cast<double>(limits_.most_steps + 1) * least_fixed + (p_ - 1) * least_slope;
    result_.for_any_steps = goes_on_ && (limits_.most_steps >= p_ - 1 || !is_cheaper(longer));
    if (goes_on_) result_.proved_steps = limits_.most_steps;
    if (goes_on_) result_.bound = result_.best.seconds;
    return std::move(result_);
  }

 private:
  /// False if the time is over before all shifts have their prices. A few take no time.
  bool price_all() {
    for (element s = 1; s < p_; ++s) {
      bool const asks = s % (p_ > many_ranks ? 1 : shifts_between_questions) == 0;
      if (asks && !limits_.goes_on()) return goes_on_ = false;
      (void)prices_.fixed(s);
      by_slope_.push_back(s);
    }
    by_fixed_ = by_price_ = by_slope_;
    std::ranges::stable_sort(by_slope_, {}, [&](element s) { return prices_.slope(s); });
    std::ranges::stable_sort(by_fixed_, {}, [&](element s) { return prices_.fixed(s); });
    std::ranges::stable_sort(by_price_, {}, [&](element s) { return prices_.seconds(s, p_ / 2); });
    return true;
  }

  bool is_cheaper(double seconds) const { return seconds < result_.best.seconds * (1 - rounding); }

  /// If they are a chain of this group.
  void improve(std::vector<element> const& shifts) {
    double seconds = 0;
    try {
      seconds = seconds_of(prices_, shifts);
    } catch (schedule_error const&) {
      return;
    }
    if (!is_cheaper(seconds)) return;
    result_.best = {shifts, seconds};
    if (limits_.found) limits_.found(result_.best);
  }

  /// The most lags that step i sends: what is left then at most halves, and later steps have to be able to reach it.
  rank_t most_lags(std::size_t i) const {
    auto const later = std::min<std::size_t>(steps_ - 1 - i, 31);
    return std::min(rank_t{1} << later, (p_ - std::min<rank_t>(p_, static_cast<rank_t>(i))) / 2);
  }

  /// Whether shifts that reach all ranks in the steps that are left have to differ from each other and from those so far:
  /// of two equal ones some sums are the same, and a quarter of them if the group commutes.
  bool have_to_differ(std::size_t reached, std::size_t left) const {
    std::uint64_t const most = std::uint64_t{reached} << std::min<std::size_t>(left, 32);
    return commutes_ ? 3 * most < 4 * std::uint64_t{p_} : most <= p_;
  }

  /// No chain that begins with these shifts, whose sums are so many elements, takes less.
  double bound(std::size_t reached) {
    std::size_t const left = steps_ - shifts_.size();
    bool const all_differ = have_to_differ(reached, left);
    double sum = 0;
    slopes_.clear();
    for (std::size_t i = 0; i < shifts_.size(); ++i) {
      sum += prices_.fixed(shifts_[i]);
      slopes_.emplace_back(prices_.slope(shifts_[i]), most_lags(i));
    }
    auto const cheapest = [&](std::vector<element> const& order, auto const& visit) {
      std::size_t made = 0;
      for (auto at = order.begin(); made < left && at != order.end();) {
        if (all_differ && taken_[*at] != 0) {
          ++at;
          continue;
        }
        visit(*at, made++);
        if (all_differ) ++at;
      }
      return made == left;
    };
    bool const are_enough = cheapest(by_fixed_, [&](element s, std::size_t) { sum += prices_.fixed(s); });
    if (!are_enough) return std::numeric_limits<double>::infinity();
    cheapest(by_slope_,
             [&](element s, std::size_t k) { slopes_.emplace_back(prices_.slope(s), most_lags(shifts_.size() + k)); });
    std::ranges::sort(slopes_);
    rank_t blocks = p_ - 1;
    for (auto const& [slope, most] : slopes_) {
      rank_t const sent = std::min(blocks, most);
      sum += slope * sent;
      blocks -= sent;
    }
    return blocks == 0 ? sum : std::numeric_limits<double>::infinity();
  }

  /// `seconds`: of the shifts so far, where each step moves as many lags as it can.
  void extend(std::size_t depth, double seconds) {
    ++result_.looked_at;
    if (depth == steps_) {
      improve(shifts_);
      return;
    }
    std::size_t const reached = sums_so_far_[depth].size();
    std::uint64_t const factor = std::uint64_t{1} << std::min<std::size_t>(steps_ - depth - 1, 32);
    for (element const s : by_price_) {
      if (++tries_ % tries_between_questions == 0) goes_on_ = goes_on_ && limits_.goes_on();
      if (!goes_on_) return;
      shifts_.push_back(s);
      ++taken_[s];
      double const so_far = seconds + prices_.seconds(s, most_lags(depth));
      if (is_cheaper(bound(std::min<std::size_t>(2 * reached, p_))) && adds(depth, s, factor) &&
          !is_dearer(depth, so_far))
        extend(depth + 1, so_far);
      --taken_[s];
      shifts_.pop_back();
    }
  }

  /// Appends the sums with one more shift, the last one first; false if too few are new to reach all in the steps left.
  bool adds(std::size_t depth, element shift, std::uint64_t factor) {
    auto const& sums = sums_so_far_[depth];
    auto& more = sums_so_far_[depth + 1];
    more = sums;
    ++mark_;
    for (element const e : sums) known_[e] = mark_;
    for (element const e : sums) {
      element const t = sums_[shift * std::size_t{p_} + e];
      if (known_[t] != mark_) more.push_back(t);
    }
    return more.size() > sums.size() && more.size() * factor >= p_;
  }

  /// Where every step has to double what is reached, what it moves is known, and what may follow depends on nothing but
  /// the set of sums: of all ways to it the cheapest one is enough.
  bool is_dearer(std::size_t depth, double seconds) {
    if (!is_full_ || p_ > 64) return false;
    std::uint64_t set = 0;
    for (element const e : sums_so_far_[depth + 1]) set |= std::uint64_t{1} << e;
    auto const [at, is_new] = cheapest_[depth + 1].try_emplace(set, seconds);
    if (!is_new && seconds >= at->second) return true;
    at->second = seconds;
    return false;
  }

  step_prices const& prices_;
  search_limits const& limits_;
  rank_t const p_;
  bool const commutes_;
  std::vector<element> sums_;  // [a][b]: a + b
  std::vector<element> by_slope_, by_fixed_, by_price_;
  std::vector<std::uint32_t> taken_;
  std::vector<element> shifts_;
  std::vector<std::vector<element>> sums_so_far_;                    // [depth]: of some of the shifts, later ones first
  std::vector<std::unordered_map<std::uint64_t, double>> cheapest_;  // [depth]: by the set of sums
  std::vector<std::uint64_t> known_;                                 // by element: equal to mark_ if known
  std::uint64_t mark_ = 0;
  std::vector<std::pair<double, rank_t>> slopes_;
  std::size_t steps_ = 0;
  bool is_full_ = false;
  std::uint64_t tries_ = 0;
  bool goes_on_ = true;
  search_result result_;
};

}  // namespace

double seconds_of(step_prices const& prices, chain const& steps) {
  double sum = 0;
  for (auto const& step : steps) sum += prices.seconds(step);
  return sum;
}

double seconds_of(step_prices const& prices, std::vector<element> const& shifts) {
  shift_list steps;
  for (element const s : shifts) steps.push_back({s});
  return seconds_of(prices, chain_of_all(prices.ranks(), steps));
}

search_result search_chain(step_prices const& prices, search_limits const& limits) {
  return searching(prices, limits).run();
}

}  // namespace coset::schedule
