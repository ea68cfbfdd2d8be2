// SPDX-License-Identifier: Apache-2.0
// Two copies of all values, from before the step and as they stand: as slow and as plain as it gets.
#include "set_execution.hpp"

#include <map>
#include <set>
#include <tuple>

#include "schedule/by_definition.hpp"

namespace coset::schedule {

namespace {

using contributors = std::multiset<rank_t>;
using places = std::map<std::tuple<rank_t, block_t, slot_t>, contributors>;

contributors ranks_between(rank_t begin, rank_t end) {
  contributors result;
  for (rank_t r = begin; r < end; ++r) result.insert(r);
  return result;
}

places inputs(schedule const& s, testing::definition const& asked) {
  places values;
  for (rank_t r = 0; r < s.ranks; ++r)
    for (block_t b = 0; b < s.blocks.size(); ++b)
      if (asked.has_input(r, b)) values[{r, b, 0}] = {r};
  return values;
}

bool execute(schedule const& s, places& values) {
  for (auto const& step : s.steps) {
    places const before = values;
    for (assignment const& a : step) {
      contributors sum;
      for (source const& from : s.from(a)) {
        places const& read = from.rank == a.rank ? values : before;
        auto const found = read.find({from.rank, a.block, from.slot});
        if (found == read.end()) return false;
        sum.insert(found->second.begin(), found->second.end());
      }
      if (!values.try_emplace({a.rank, a.block, a.slot}, sum).second) return false;
    }
  }
  return true;
}

}  // namespace

bool executes_rightly(schedule const& s) {
  testing::definition const asked(s);
  places values = inputs(s, asked);
  if (!execute(s, values)) return false;
  for (rank_t r = 0; r < s.ranks; ++r) {
    auto const all = asked.contributors(r);
    for (block_t b = 0; b < s.blocks.size(); ++b) {
      contributors const want = ranks_between(all[b].first, all[b].second);
      slot_t const slot = s.result[r][b];
      if ((slot == no_slot) != want.empty()) return false;
      if (slot == no_slot) continue;
      auto const found = values.find({r, b, slot});
      if (found == values.end()) return false;
      contributors const& got = found->second;
      bool const same =
          s.idempotent_only ? std::set(got.begin(), got.end()) == std::set(want.begin(), want.end()) : got == want;
      if (!same) return false;
    }
  }
  return true;
}

}  // namespace coset::schedule
