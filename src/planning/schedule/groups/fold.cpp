// SPDX-License-Identifier: Apache-2.0
// The generator behind fold(): replays the chain for every lag of D, and distributes.
#include "planning/schedule/groups/fold.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace coset::schedule {

namespace {

constexpr std::uint32_t still_there = UINT32_MAX;

void refuse(std::size_t step, transfer const& sent, element lag, std::string const& why) {
  throw schedule_error("step " + std::to_string(step) + ", shift " + std::to_string(sent.shift) + ", lag " +
                       std::to_string(lag) + ": " + why);
}

/// A partial, whatever its lag: equal numbers are equal relative content, equally bracketed. 0: an input.
using content = std::uint32_t;

/// A landing: what is folded into one lag in one step, as (displacement, content) with the own value first.
using landing = std::vector<std::pair<element, content>>;

class builder {
 public:
  builder(group const& ranks, std::vector<element> targets) : targets_(std::move(targets)) {
    made_.ranks = ranks;
    made_.whole = targets_.size() == ranks.order();
    if (made_.whole) targets_ = {0};  // all lags are alike: one stands for all
    contents_.assign(ranks.order(), 0);
    next_slot_.assign(made_.whole ? 1 : ranks.order(), 1);
    made_.result.assign(made_.whole ? 1 : ranks.order(), no_slot);
  }

  void reduce(std::vector<transfer> const& step) {
    std::map<element, landing> landings;
    for (transfer const& sent : step)
      for (element const t : sent.lags) {
        element const u = made_.ranks.subtract(t, sent.shift);
        landing& into = landings.try_emplace(u, landing{{0, contents_[u]}}).first->second;
        into.emplace_back(sent.shift, contents_[t]);
      }
    made_.steps.emplace_back();
    for (auto const& [u, sources] : landings) {
      content const folded = known_.try_emplace(sources, known_.size() + 1).first->second;
      for (element const target : targets_) assign(made_.ranks.add(target, u), folded, sources);
      contents_[u] = folded;
    }
  }

  void finish_reduction() {
    for (element const target : targets_) made_.result[target] = slot(target, contents_[0]);
  }

  void distribute(std::vector<transfer> const& step) {
    made_.steps.emplace_back();
    for (transfer const& sent : step) {
      element const back = made_.ranks.negate(sent.shift);
      for (element const t : sent.lags) {
        slot_t const finished = made_.result[made_.ranks.add(t, back)];
        made_.result[t] = append(t, {{back, finished}});
      }
    }
  }

  symmetric_schedule take() && { return std::move(made_); }

 private:
  element stored(element lag) const { return made_.whole ? 0 : lag; }

  static std::uint64_t key(element lag, content c) { return std::uint64_t{lag} << 32 | c; }

  slot_t slot(element lag, content c) const { return c == 0 ? 0 : slots_.at(key(stored(lag), c)); }

  /// Makes a partial unless another target has: this is the sharing.
  void assign(element lag, content folded, landing const& sources) {
    auto const [entry, is_new] = slots_.try_emplace(key(stored(lag), folded), no_slot);
    if (!is_new) return;
    std::vector<symmetric_source> from;
    for (auto const& [displacement, c] : sources)
      from.push_back({displacement, slot(made_.ranks.add(lag, displacement), c)});
    entry->second = append(stored(lag), from);
  }

  slot_t append(element lag, std::vector<symmetric_source> const& from) {
    slot_t const slot = next_slot_[lag]++;
    made_.steps.back().push_back(
        {lag, slot, static_cast<std::uint32_t>(made_.sources.size()), static_cast<std::uint32_t>(from.size())});
    made_.sources.insert(made_.sources.end(), from.begin(), from.end());
    return slot;
  }

  symmetric_schedule made_{group::cyclic(1), false, {}, {}, {}};
  std::vector<element> targets_;   // D
  std::vector<content> contents_;  // by lag in E_i, for target 0
  std::map<landing, content> known_;
  std::unordered_map<std::uint64_t, slot_t> slots_;  // by lag and content
  std::vector<slot_t> next_slot_;                    // by lag
};

std::vector<element> lags_at(std::vector<std::uint32_t> const& last_level, std::size_t level) {
  std::vector<element> result;
  for (element t = 0; t < last_level.size(); ++t)
    if (last_level[t] >= level) result.push_back(t);
  return result;
}

/// The level of the distributing chain at which exactly the lags D are left.
std::size_t common_level(std::vector<std::uint32_t> const& last_level, std::size_t steps,
                         std::vector<element> const& d) {
  std::vector<std::size_t> left(steps + 1, 0);  // by level, as lags would be compared at thousands of levels
  for (std::uint32_t const last : last_level) ++left[last];
  std::partial_sum(left.rbegin(), left.rend(), left.rbegin());
  for (std::size_t level = 0; level <= steps; ++level)
    if (left[level] == d.size() && lags_at(last_level, level) == d) return level;
  throw schedule_error("the distributing chain never has the " + std::to_string(d.size()) +
                       " lags left that the reducing chain ends with: choose saved_steps 0 or one chain for both");
}

}  // namespace

std::vector<std::uint32_t> last_level(group const& ranks, chain const& steps) {
  std::vector<std::uint32_t> level(ranks.order(), still_there);
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    for (transfer const& sent : steps[i])
      for (element const t : sent.lags) {
        if (t >= ranks.order() || sent.shift >= ranks.order())
          refuse(i, sent, t, "there are only " + std::to_string(ranks.order()) + " elements");
        if (level[t] == i) refuse(i, sent, t, "sent twice in one step");
        if (level[t] != still_there) refuse(i, sent, t, "already sent in step " + std::to_string(level[t]));
        level[t] = i;
      }
    for (transfer const& sent : steps[i])
      for (element const t : sent.lags)
        if (level[ranks.subtract(t, sent.shift)] != still_there)
          refuse(i, sent, t, "lands on lag " + std::to_string(ranks.subtract(t, sent.shift)) + ", which is gone");
  }
  for (element t = 1; t < ranks.order(); ++t)
    if (level[t] == still_there) throw schedule_error("the chain ends before lag " + std::to_string(t) + " was sent");
  if (level[0] != still_there) throw schedule_error("the chain sends lag 0, which must be the last one left");
  level[0] = static_cast<std::uint32_t>(steps.size());
  return level;
}

void require_saved(std::uint32_t saved_steps, group const& ranks, chain const& reducing) {
  if (saved_steps <= reducing.size()) return;
  throw schedule_error("saved_steps = " + std::to_string(saved_steps) + " is out of range: this algorithm on " +
                       std::to_string(ranks.order()) + " ranks can save 0 to " + std::to_string(reducing.size()));
}

symmetric_schedule fold(group const& ranks, chain const& reducing, chain const& distributing,
                        std::uint32_t saved_steps) {
  auto const reducing_levels = last_level(ranks, reducing);
  auto const distributing_levels = last_level(ranks, distributing);
  require_saved(saved_steps, ranks, reducing);
  auto const d = lags_at(reducing_levels, reducing.size() - saved_steps);
  if (d.size() < ranks.order()) require_room(ranks.order(), d.size());
  std::size_t const level = common_level(distributing_levels, distributing.size(), d);

  builder build(ranks, d);
  for (auto const& step : reducing) build.reduce(step);
  build.finish_reduction();
  for (std::size_t i = level; i-- > 0;) build.distribute(distributing[i]);
  return std::move(build).take();
}

}  // namespace coset::schedule
