// SPDX-License-Identifier: Apache-2.0
// Where the rank beside the others joins in: a piece at a time, with every input, or where a tree has a rank to spare.
#include "planning/schedule/algorithms/swing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "planning/schedule/core/assembly.hpp"
#include "planning/schedule/groups/covering.hpp"

namespace coset::schedule {
namespace {

class swing_assembly {
 public:
  explicit swing_assembly(group const& others)
      : others_(others), last_(others.order()), all_(last_ + 1, cuts(last_ + 1)) {}

  /// The last rank meets more others where these are busier, so that no port is busy much longer for it.
  void reduce(std::vector<transfer> const& step) {
    rank_t const first = met_;
    for (transfer const& sent : step) met_ += static_cast<rank_t>(sent.lags.size());
    met_ = std::min(met_ + 1, last_);
    for (rank_t b = 0; b < last_; ++b) reduce(b, step, first <= b && b < met_);
    std::vector<rank_t> from(met_ - first);
    std::iota(from.begin(), from.end(), first);
    from.push_back(last_);
    all_.fold(last_, piece_of(last_), from);
    all_.end_step();
  }

  schedule there_and_back() && {
    all_.mirror();
    return std::move(all_).finish();
  }

 private:
  static std::vector<fraction> cuts(rank_t ranks) {
    std::vector<fraction> all;
    for (rank_t r = 1; r < ranks; ++r) all.emplace_back(r, ranks);
    return all;
  }

  piece piece_of(rank_t r) const { return {fraction(r, last_ + 1), fraction(r + 1, last_ + 1)}; }

  /// Sources of the owner are in the order of ranks, as of a fold of inputs.
  void reduce(rank_t block, std::vector<transfer> const& step, bool meets_last) {
    std::vector<rank_t> of_owner{block};
    for (transfer const& sent : step)
      for (element const t : sent.lags) {
        rank_t const from = others_.add(block, t), to = others_.add(block, others_.subtract(t, sent.shift));
        if (to == block)
          of_owner.push_back(from);
        else
          all_.fold(to, piece_of(block), std::array{to, from});
      }
    if (meets_last) of_owner.push_back(last_);
    std::ranges::sort(of_owner);
    all_.fold(block, piece_of(block), of_owner);
  }

  group const& others_;
  rank_t const last_;
  rank_t met_ = 0;  // as many of the others have met the last rank
  assembly all_;
};

/// A rank, by its lag, that gives nothing away in a step and reads nothing.
struct spare {
  std::size_t step;
  element lag;
};

std::vector<spare> spares_in(group const& ranks, chain const& steps) {
  std::vector<spare> found;
  std::vector<char> holds(ranks.order(), 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<char> reads(ranks.order(), 0);
    for (transfer const& sent : steps[i])
      for (element const t : sent.lags) {
        holds[t] = 0;
        reads[ranks.subtract(t, sent.shift)] = 1;
      }
    for (element t = 0; t < ranks.order(); ++t)
      if (holds[t] != 0 && reads[t] == 0) found.push_back({i, t});
  }
  return found;
}

}  // namespace

schedule swing_beside_last(group const& others, chain const& steps) {
  swing_assembly all(others);
  for (auto const& step : steps) all.reduce(step);
  return std::move(all).there_and_back();
}

// Whoever reads the input of rank b reads the last one's, too: so what has the one contribution to block b has the other.
schedule beside_last(schedule others) {
  rank_t const last = others.ranks++;
  std::vector<source> sources;
  std::vector<std::size_t> finished(others.blocks.size());
  for (std::size_t i = 0; i < others.steps.size(); ++i)
    for (assignment& a : others.steps[i]) {
      auto const first = static_cast<std::uint32_t>(sources.size());
      for (source const& from : others.from(a)) {
        sources.push_back(from);
        if (from == source{a.block, 0}) sources.push_back({last, 0});
      }
      a.first = first;
      a.count = static_cast<std::uint32_t>(sources.size()) - first;
      if (a.rank == a.block && a.slot == others.result[a.rank][a.block]) finished[a.block] = i;
    }
  others.steps.resize(std::max(others.steps.size(), std::ranges::max(finished) + 2));
  for (block_t b = 0; b < finished.size(); ++b) {
    others.steps[finished[b] + 1].push_back({last, b, 1, static_cast<std::uint32_t>(sources.size()), 1});
    sources.push_back({b, others.result[b][b]});
  }
  others.result.emplace_back(finished.size(), 1);
  others.sources = std::move(sources);
  return others;
}

// Of an odd number of ranks one stands aside: the last, or rank 0 if the last is the owner and has the place of rank 0. It gives
// its input to a rank that is spare in some step. There is one unless all steps halve the number of ranks that still hold
// something, P − 1 is 2^K and there have to be K + 1 steps: then the first one is for the rank aside alone.
schedule bine_tree(rank_t ranks, rank_t owner, bool far_first) {
  assembly all(ranks);
  if (ranks == 1) return std::move(all).finish();
  rank_t const even = ranks - ranks % 2, aside = owner == even ? 0 : even;
  bool const is_odd = ranks > even;
  group const exchanges = group::dihedral(even);
  chain steps = covering_chain(exchanges, swing_shifts(even, far_first));
  if (is_odd && std::has_single_bit(even)) steps.emplace(steps.begin());
  auto const at = [&](element lag) {
    rank_t const place = exchanges.add(owner == even ? 0 : owner, lag);
    return place == aside ? even : place;
  };
  auto const away = [&](spare const& one) {
    rank_t const apart = at(one.lag) < aside ? aside - at(one.lag) : at(one.lag) - aside;
    return std::pair(std::min(apart, ranks - apart), one.lag == 0);
  };
  auto const spares = is_odd ? spares_in(exchanges, steps) : std::vector<spare>();
  auto const nearest = std::ranges::min_element(spares, {}, away);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (transfer const& sent : steps[i])
      for (element const t : sent.lags) {
        rank_t const to = at(exchanges.subtract(t, sent.shift));
        all.fold(to, {}, std::array{to, at(t)});
      }
    if (is_odd && nearest->step == i) all.fold(at(nearest->lag), {}, std::array{at(nearest->lag), aside});
    all.end_step();
  }
  all.mirror();
  return std::move(all).finish();
}

}  // namespace coset::schedule
