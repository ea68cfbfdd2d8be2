// SPDX-License-Identifier: Apache-2.0
// 3-2 elimination, laid out in time: a merge starts as soon as its groups are ready, not when the slowest pair of its level is.
#include "planning/schedule/algorithms/elimination.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {
namespace {

// The ranks that hold one partial sum between them, pieces[i] on members[i], from step `ready` on.
struct holders {
  std::vector<rank_t> members;
  std::vector<piece> pieces;
  std::size_t ready;
};

struct handed_over {
  rank_t to, from;
  piece where;
};

class timeline {
 public:
  // a keeps the low half of every piece and b the high one. One read per rank and step.
  holders pair(holders const& a, holders const& b) {
    std::size_t const start = std::max(a.ready, b.ready);
    holders merged{{}, {}, start + 1};
    for (std::size_t i = 0; i < a.members.size(); ++i) {
      auto const [low, high] = keep_halves(a, b, i, merged);
      at_[start].push_back({a.members[i], b.members[i], low});
      at_[start].push_back({b.members[i], a.members[i], high});
    }
    return merged;
  }

  // c gives its halves to a and b, in the two steps that a and b take to exchange theirs.
  holders triple(holders const& a, holders const& b, holders const& c) {
    std::size_t const start = std::max({a.ready, b.ready, c.ready});
    holders merged{{}, {}, start + 2};
    for (std::size_t i = 0; i < a.members.size(); ++i) {
      auto const [low, high] = keep_halves(a, b, i, merged);
      at_[start].push_back({a.members[i], c.members[i], low});
      at_[start].push_back({b.members[i], a.members[i], high});
      at_[start + 1].push_back({b.members[i], c.members[i], high});
      at_[start + 1].push_back({a.members[i], b.members[i], low});
    }
    return merged;
  }

  std::map<std::size_t, std::vector<handed_over>> const& steps() const { return at_; }

 private:
  static std::pair<piece, piece> keep_halves(holders const& a, holders const& b, std::size_t i, holders& merged) {
    auto const [low, high] = a.pieces[i];
    fraction const middle = (low + high) * fraction(1, 2);
    merged.members.insert(merged.members.end(), {a.members[i], b.members[i]});
    merged.pieces.insert(merged.pieces.end(), {{low, middle}, {middle, high}});
    return {{low, middle}, {middle, high}};
  }

  std::map<std::size_t, std::vector<handed_over>> at_;
};

// Early groups merge with early groups; a triple takes the earliest three, its latest gives itself up.
std::vector<holders> merge(std::vector<holders> groups, timeline& time) {
  std::ranges::stable_sort(groups, {}, &holders::ready);
  std::vector<holders> merged;
  std::size_t const odd = groups.size() % 2 == 1 ? 3 : 0;
  if (odd != 0) merged.push_back(time.triple(groups[0], groups[1], groups[2]));
  for (std::size_t g = odd; g < groups.size(); g += 2) merged.push_back(time.pair(groups[g], groups[g + 1]));
  return merged;
}

}  // namespace

schedule elimination_3_2(rank_t ranks) {
  std::vector<holders> groups;
  for (rank_t r = 0; r < ranks; ++r) groups.push_back({{r}, {piece{}}, 0});
  timeline time;
  while (groups.size() > 1) groups = merge(std::move(groups), time);

  std::int64_t const parts = std::bit_floor(ranks);
  std::vector<fraction> cuts;
  for (std::int64_t i = 1; i < parts; ++i) cuts.emplace_back(i, parts);
  assembly building(ranks, cuts);
  for (auto const& [step, transfers] : time.steps()) {
    for (auto const& [to, from, where] : transfers) building.fold(to, where, std::array{to, from});
    building.end_step();
  }
  building.mirror();
  return std::move(building).finish();
}

}  // namespace coset::schedule
