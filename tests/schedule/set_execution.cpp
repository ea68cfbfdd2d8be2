// SPDX-License-Identifier: Apache-2.0
// Two copies of all values, from before the step and as they stand: as slow and as plain as it gets.
#include "set_execution.hpp"

#include <map>
#include <set>
#include <tuple>

namespace coset::schedule {

namespace {

using contributors = std::multiset<rank_t>;
using places = std::map<std::tuple<rank_t, block_t, slot_t>, contributors>;

/// The rank in whose piece of the vector a block begins.
rank_t home(schedule const& s, block_t b) {
  rank_t r = 0;
  while (r + 1 < s.ranks && fraction(std::int64_t{r} + 1, s.ranks) <= s.blocks[b].offset) ++r;
  return r;
}

contributors ranks_between(rank_t begin, rank_t end) {
  contributors result;
  for (rank_t r = begin; r < end; ++r) result.insert(r);
  return result;
}

contributors wanted(schedule const& s, rank_t r, block_t b) {
  contributors const all = ranks_between(0, s.ranks);
  switch (s.verb) {
    case verb::reduce:
      return r == s.root ? all : contributors{};
    case verb::reduce_scatter:
      return r == home(s, b) ? all : contributors{};
    case verb::allgather:
      return {home(s, b)};
    case verb::broadcast:
      return {*s.root};
    case verb::gather:
      return r == s.root ? contributors{home(s, b)} : contributors{};
    case verb::scatter:
      return r == home(s, b) ? contributors{*s.root} : contributors{};
    case verb::all_to_all:
      return {(r + s.ranks - home(s, b)) % s.ranks};
    case verb::scan:
      return ranks_between(0, r + 1);
    case verb::exclusive_scan:
      return ranks_between(0, r);
    default:
      return all;
  }
}

places inputs(schedule const& s) {
  places values;
  for (rank_t r = 0; r < s.ranks; ++r)
    for (block_t b = 0; b < s.blocks.size(); ++b) {
      bool const is_roots = s.verb == verb::broadcast || s.verb == verb::scatter;
      bool const is_owners = s.verb == verb::allgather || s.verb == verb::gather;
      if (is_roots && r != *s.root) continue;
      if (is_owners && r != home(s, b)) continue;
      values[{r, b, 0}] = {r};
    }
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
  places values = inputs(s);
  if (!execute(s, values)) return false;
  for (rank_t r = 0; r < s.ranks; ++r)
    for (block_t b = 0; b < s.blocks.size(); ++b) {
      contributors const want = wanted(s, r, b);
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
  return true;
}

}  // namespace coset::schedule
