// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/composed/leadership.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace coset::schedule {

piece part_of_leader(std::int64_t number, std::int64_t leaders) { return {{number, leaders}, {number + 1, leaders}}; }

piece common(piece a, piece b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

bool is_empty(piece where) { return where.low >= where.high; }

leadership::leadership(std::vector<rank_t> hosts, rank_t most) : ranks_(std::move(hosts)), most_(most) {
  if (ranks_.empty()) throw schedule_error("no nodes: list how many ranks each has, like 5+2+4");
  std::set<rank_t> numbers;
  for (std::size_t h = 0; h < ranks_.size(); ++h) {
    if (ranks_[h] == 0) throw schedule_error("node " + std::to_string(h) + " has 0 ranks: leave it out");
    first_.push_back(first_.back() + ranks_[h]);
    numbers.insert(leaders(h));
  }
  std::vector<fraction> cuts{1};
  for (rank_t const number : numbers)
    for (rank_t i = 0; i < number; ++i) cuts.push_back(part_of_leader(i, number).low);
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) pieces_.push_back({cuts[c], cuts[c + 1]});
}

rank_t leadership::widest() const { return *std::ranges::max_element(ranks_); }

bool leadership::is_equal() const { return std::ranges::count(ranks_, ranks_[0]) == std::ssize(ranks_); }

std::size_t leadership::host_of(rank_t r) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_, r) - first_.begin()) - 1;
}

rank_t leadership::leaders(std::size_t host) const { return most_ == 0 ? ranks_[host] : std::min(ranks_[host], most_); }

rank_t leadership::leader(std::size_t host, std::size_t piece) const {
  return static_cast<rank_t>((pieces_[piece].low * leaders(host)).floor());
}

fraction leadership::by_ranks(fraction where) const {
  fraction const at = where * static_cast<std::int64_t>(hosts());
  auto const host = static_cast<std::size_t>(at.floor());
  if (host == hosts()) return 1;
  fraction const within = at - at.floor();
  return (within * ranks_[host] + first_[host]) * fraction(1, all());
}

}  // namespace coset::schedule
