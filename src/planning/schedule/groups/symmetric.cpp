// SPDX-License-Identifier: Apache-2.0
// From group elements to ranks.
#include "planning/schedule/groups/symmetric.hpp"

#include <algorithm>
#include <utility>

namespace coset::schedule {

namespace {

schedule frame(symmetric_schedule const& s) {
  rank_t const ranks = s.ranks.order();
  schedule result;
  result.ranks = ranks;
  if (s.whole) {
    result.blocks = {{0, 1}};
  } else {
    for (rank_t b = 0; b < ranks; ++b) result.blocks.push_back({{b, ranks}, {1, ranks}});
  }
  result.steps.resize(s.steps.size());
  result.result.resize(ranks);
  return result;
}

/// Whose inputs each value holds, as displacements from the rank that holds it; made for the values that are asked for.
class contents {
 public:
  explicit contents(symmetric_schedule const& of)
      : of_(of),
        commutes_(of.ranks.commutes()),
        factors_(of.ranks.factors()),
        made_(of.result.size()),
        held_(of.result.size()) {
    for (auto const& step : of.steps)
      for (symmetric_assignment const& a : step) made_[a.lag].push_back(&a);  // their slots are 1, 2, …
    for (std::size_t p = 0; p < made_.size(); ++p) held_[p].resize(made_[p].size());
  }

  /// The lowest rank whose input is in this slot of `rank`.
  rank_t least(rank_t rank, element lag, slot_t slot) {
    if (slot == 0) return rank;
    auto some = std::span<element const>(displacements(lag, slot));
    if (!commutes_) return least_of(rank, some);
    std::uint64_t weight = of_.ranks.order();
    for (std::size_t digit = factors_.size(); digit-- > 0;) {  // the highest decides first; one that wraps is lowest
      std::uint64_t const above = weight;
      weight /= factors_[digit];
      auto const own = rank / weight % factors_[digit];
      std::uint64_t const base = some.front() / above * above;
      auto const from = [&](std::uint64_t value) { return std::ranges::lower_bound(some, base + value * weight); };
      auto first = from(factors_[digit] - own);
      if (first == some.end()) first = some.begin();
      auto const value = *first / weight % factors_[digit];
      some = {first, from(value + 1)};
    }
    return of_.ranks.add(rank, some.front());
  }

 private:
  /// Where digits change each other.
  rank_t least_of(rank_t rank, std::span<element const> some) const {
    rank_t least = of_.ranks.add(rank, some.front());
    for (element const e : some.subspan(1)) least = std::min(least, of_.ranks.add(rank, e));
    return least;
  }

  std::vector<element> const& displacements(element lag, slot_t slot) {
    std::vector<element>& all = held_[lag][slot - 1];
    if (!all.empty()) return all;
    symmetric_assignment const& a = *made_[lag][slot - 1];
    for (auto const& [displacement, from] : std::span(of_.sources).subspan(a.first, a.count)) {
      if (from == 0) {
        all.push_back(displacement);
        continue;
      }
      element const there = of_.whole ? 0 : of_.ranks.add(lag, displacement);
      for (element const e : displacements(there, from)) all.push_back(of_.ranks.add(displacement, e));
    }
    std::ranges::sort(all);
    return all;
  }

  symmetric_schedule const& of_;
  bool const commutes_;
  std::vector<rank_t> const factors_;
  std::vector<std::vector<symmetric_assignment const*>> made_;  // [lag][slot - 1]
  std::vector<std::vector<std::vector<element>>> held_;         // the same, sorted
};

/// Adds what one rank does.
class expansion {
 public:
  expansion(symmetric_schedule const& from, source_order order, schedule& to)
      : from_(from),
        order_(order),
        to_(to),
        contents_(from),
        shifted_(from.ranks.order()),
        block_(from.ranks.order(), 0) {
    for (symmetric_source const& s : from.sources) displacements_.push_back(s.displacement);
    std::ranges::sort(displacements_);
    displacements_.erase(std::unique(displacements_.begin(), displacements_.end()), displacements_.end());
  }

  void add(rank_t rank) {
    for (element const e : displacements_) shifted_[e] = from_.ranks.add(rank, e);
    if (!from_.whole)
      for (element e = 0; e < shifted_.size(); ++e) block_[e] = from_.ranks.subtract(rank, e);
    for (std::size_t i = 0; i < from_.steps.size(); ++i)
      for (symmetric_assignment const& a : from_.steps[i]) to_.steps[i].push_back(at_rank(a, rank));
    to_.result[rank].assign(to_.blocks.size(), no_slot);
    for (element lag = 0; lag < from_.result.size(); ++lag) to_.result[rank][block_[lag]] = from_.result[lag];
  }

 private:
  assignment at_rank(symmetric_assignment const& a, rank_t rank) {
    auto const first = to_.sources.size();
    auto const sources = std::span(from_.sources).subspan(a.first, a.count);
    bool const alike = std::ranges::all_of(sources, [&](auto const& s) { return s.slot == sources.front().slot; });
    if (alike && a.count > 1 && order_ == source_order::by_least_rank) {
      add_sorted(a);
    } else {
      for (auto const& [displacement, slot] : sources) to_.sources.push_back({shifted_[displacement], slot});
    }
    return {rank, block_[a.lag], a.slot, static_cast<std::uint32_t>(first), a.count};
  }

  void add_sorted(symmetric_assignment const& a) {
    sorted_.clear();
    for (auto const& [displacement, slot] : std::span(from_.sources).subspan(a.first, a.count)) {
      element const there = from_.whole ? 0 : from_.ranks.add(a.lag, displacement);
      rank_t const peer = shifted_[displacement];
      sorted_.push_back({contents_.least(peer, there, slot), {peer, slot}});
    }
    std::ranges::sort(sorted_, {}, [](auto const& s) { return std::pair(s.first, s.second.rank); });
    for (auto const& [least, from] : sorted_) to_.sources.push_back(from);
  }

  symmetric_schedule const& from_;
  source_order order_;
  schedule& to_;
  contents contents_;
  std::vector<element> displacements_;             // that occur, each once
  std::vector<rank_t> shifted_;                    // by displacement
  std::vector<block_t> block_;                     // by lag
  std::vector<std::pair<rank_t, source>> sorted_;  // of one fold, with the lowest rank that each contains
};

}  // namespace

schedule expand(symmetric_schedule const& s, source_order order) {
  require_room(s.ranks.order(), s.whole ? 1 : s.ranks.order());
  schedule result = frame(s);
  rank_t const ranks = s.ranks.order();
  result.sources.reserve(s.sources.size() * ranks);
  for (std::size_t i = 0; i < s.steps.size(); ++i) result.steps[i].reserve(s.steps[i].size() * ranks);
  expansion all(s, order, result);
  for (rank_t r = 0; r < ranks; ++r) all.add(r);
  return result;
}

schedule view(symmetric_schedule const& s, rank_t rank, source_order order) {
  schedule result = frame(s);
  expansion(s, order, result).add(rank);
  return result;
}

}  // namespace coset::schedule
