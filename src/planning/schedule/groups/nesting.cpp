// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/groups/nesting.hpp"

#include <algorithm>
#include <utility>

namespace coset::schedule {
namespace {

class nesting {
 public:
  explicit nesting(schedule s) : made_(std::move(s)), slots_(made_.ranks * made_.blocks.size(), 1) {
    for (auto const& step : made_.steps) {
      for (assignment const& a : step) next_slot(a) = std::max(next_slot(a), a.slot + 1);
    }
  }

  schedule result() && {
    for (auto& step : made_.steps) {
      std::vector<assignment> nested;
      for (assignment const& a : step) append(a, nested);
      step = std::move(nested);
    }
    return std::move(made_);
  }

 private:
  slot_t& next_slot(assignment const& a) { return slots_[a.rank * made_.blocks.size() + a.block]; }

  void append(assignment a, std::vector<assignment>& to) {
    auto factors = prime_factors(a.count);
    if (factors.size() < 2) {
      to.push_back(a);
      return;
    }
    std::vector<source> values(made_.from(a).begin(), made_.from(a).end());
    slot_t const result = a.slot;
    for (rank_t const width : factors) {
      std::vector<source> folded;
      for (std::size_t first = 0; first < values.size(); first += width) {
        a.slot = values.size() == width ? result : next_slot(a)++;
        a.first = static_cast<std::uint32_t>(made_.sources.size());
        a.count = width;
        made_.sources.insert(made_.sources.end(), values.begin() + static_cast<std::ptrdiff_t>(first),
                             values.begin() + static_cast<std::ptrdiff_t>(first + width));
        to.push_back(a);
        folded.push_back({a.rank, a.slot});
      }
      values = std::move(folded);
    }
  }

  schedule made_;
  std::vector<slot_t> slots_;  ///< [rank · blocks + block]: the next one that is free
};

}  // namespace

std::vector<rank_t> prime_factors(rank_t n) {
  std::vector<rank_t> factors;
  for (rank_t p = 2; p <= n / p; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  std::ranges::reverse(factors);
  return factors;
}

schedule nested(schedule s) { return nesting(std::move(s)).result(); }

}  // namespace coset::schedule
