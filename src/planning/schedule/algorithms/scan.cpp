// SPDX-License-Identifier: Apache-2.0
// Scans, rank by rank.
#include "planning/schedule/algorithms/scan.hpp"

#include <utility>

#include "planning/schedule/core/verbs.hpp"

namespace coset::schedule {

namespace {

schedule frame(rank_t ranks, rank_t blocks, verb what) {
  require_room(ranks, blocks);
  schedule s;
  s.verb = what;
  s.ranks = ranks;
  for (rank_t b = 0; b < blocks; ++b) s.blocks.push_back({{b, blocks}, {1, blocks}});
  s.result.assign(ranks, std::vector<slot_t>(blocks, no_slot));
  return s;
}

void assign(schedule& s, rank_t rank, block_t block, slot_t slot, std::vector<source> const& from) {
  s.steps.back().push_back(
      {rank, block, slot, static_cast<std::uint32_t>(s.sources.size()), static_cast<std::uint32_t>(from.size())});
  s.sources.insert(s.sources.end(), from.begin(), from.end());
}

bool has_own(verb what) { return detail::row_of(what).of == detail::contributors::up_to_own; }
/// How many contributions rank r ends with.
rank_t length(rank_t r, verb what) { return has_own(what) ? r + 1 : r; }

schedule whole_scan(rank_t ranks, verb what) {
  schedule s = frame(ranks, 1, what);
  s.steps.emplace_back();
  std::vector<source> preceding;
  for (rank_t r = 0; r < ranks; ++r) {
    preceding.clear();
    for (rank_t from = 0; from < length(r, what); ++from) preceding.push_back({from, 0});
    if (preceding.empty()) continue;
    bool const is_input = preceding.size() == 1 && r == 0;
    s.result[r][0] = is_input ? 0 : 1;
    if (!is_input) assign(s, r, 0, 1, preceding);
  }
  return s;
}

}  // namespace

schedule direct_scan(rank_t ranks, verb what, bool whole) {
  if (whole || ranks == 1) return whole_scan(ranks, what);
  schedule s = frame(ranks, ranks, what);
  // On the owner, slot r holds the prefix up to rank r; rank 0's prefix is its input.
  s.steps.emplace_back();
  for (rank_t owner = 0; owner < ranks; ++owner)
    for (rank_t r = 1; r < ranks; ++r)
      assign(s, owner, owner, r, {r == 1 ? source{0, 0} : source{owner, r - 1}, {r, 0}});
  s.steps.emplace_back();
  for (rank_t r = 0; r < ranks; ++r)
    for (block_t b = 0; b < ranks && length(r, what) > 0; ++b) {
      rank_t const last = length(r, what) - 1;
      source const prefix = last == 0 ? source{0, 0} : source{b, last};
      s.result[r][b] = prefix.rank == r ? prefix.slot : r == b ? ranks : 1;
      if (prefix.rank != r) assign(s, r, b, s.result[r][b], {prefix});
    }
  prune(s);
  return s;
}

schedule doubling_scan(rank_t ranks, verb what) {
  schedule s = frame(ranks, 1, what);
  // By rank: the fold of the last 2^l ranks up to it, without and with itself.
  std::vector<slot_t> before(ranks, no_slot), upto(ranks, 0);
  std::vector<slot_t> used(ranks, 0);
  for (std::uint64_t skip = 1; skip < ranks; skip *= 2) {
    s.steps.emplace_back();
    auto const old = upto;
    for (auto r = static_cast<rank_t>(skip); r < ranks; ++r) {
      source const further{r - static_cast<rank_t>(skip), old[r - skip]};
      std::vector<source> from{further};
      if (before[r] != no_slot) from.push_back({r, before[r]});
      before[r] = ++used[r];
      assign(s, r, 0, before[r], from);
      upto[r] = ++used[r];
      assign(s, r, 0, upto[r], {further, {r, old[r]}});
    }
  }
  for (rank_t r = 0; r < ranks; ++r) s.result[r][0] = has_own(what) ? upto[r] : before[r];
  prune(s);
  return s;
}

}  // namespace coset::schedule
