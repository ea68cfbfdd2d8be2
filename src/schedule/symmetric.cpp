// SPDX-License-Identifier: Apache-2.0
// From group elements to ranks.
#include "schedule/symmetric.hpp"

#include <algorithm>

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

/// Adds what one rank does.
class expansion {
 public:
  expansion(symmetric_schedule const& from, source_order order, schedule& to)
      : from_(from), order_(order), to_(to), shifted_(from.ranks.order()), block_(from.ranks.order(), 0) {}

  void add(rank_t rank) {
    for (element e = 0; e < shifted_.size(); ++e) shifted_[e] = from_.ranks.add(rank, e);
    if (!from_.whole)
      for (element e = 0; e < shifted_.size(); ++e) block_[e] = from_.ranks.subtract(rank, e);
    for (std::size_t i = 0; i < from_.steps.size(); ++i)
      for (symmetric_assignment const& a : from_.steps[i]) to_.steps[i].push_back(placed(a, rank));
    to_.result[rank].assign(to_.blocks.size(), no_slot);
    for (element placement = 0; placement < from_.result.size(); ++placement)
      to_.result[rank][block_[placement]] = from_.result[placement];
  }

 private:
  assignment placed(symmetric_assignment const& a, rank_t rank) {
    auto const first = to_.sources.size();
    auto const sources = std::span(from_.sources).subspan(a.first, a.count);
    for (auto const& [displacement, slot] : sources) to_.sources.push_back({shifted_[displacement], slot});
    auto const added = std::span(to_.sources).subspan(first);
    bool const alike = std::ranges::all_of(added, [&](source const& s) { return s.slot == added.front().slot; });
    if (order_ == source_order::by_rank && alike) std::ranges::sort(added, {}, &source::rank);
    return {rank, block_[a.placement], a.slot, static_cast<std::uint32_t>(first), a.count};
  }

  symmetric_schedule const& from_;
  source_order order_;
  schedule& to_;
  std::vector<rank_t> shifted_;  // by displacement
  std::vector<block_t> block_;   // by placement
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
