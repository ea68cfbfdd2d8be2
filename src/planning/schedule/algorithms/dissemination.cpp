// SPDX-License-Identifier: Apache-2.0
// Plain and adapted dissemination. Sources stand farthest first: rank x then holds the fold of x−w+1..x in that order.
#include "planning/schedule/algorithms/dissemination.hpp"

#include <algorithm>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {
namespace {

// (n+1)^(rounds−1): the ranks that a value covers before the last round.
std::uint64_t reach_before_last(rank_t ranks, rank_t ports) {
  std::uint64_t reach = 1;
  while (reach * (ports + 1) < ranks) reach *= ports + 1;
  return reach;
}

rank_t back(rank_t ranks, rank_t from, std::uint64_t distance) {
  return static_cast<rank_t>((from + ranks - distance % ranks) % ranks);
}

// The lengths at which a value can be cut: it grew in pieces of (n+1)^(l−1).
std::vector<std::uint64_t> prefix_lengths(std::uint64_t reach, rank_t ports) {
  std::vector<std::uint64_t> lengths{1};
  for (std::uint64_t piece = 1; piece < reach; piece *= ports + 1)
    for (rank_t j = 1; j <= ports; ++j) lengths.push_back((j + 1) * piece);
  return lengths;
}

// One rank's values while it disseminates: everything so far, the first `prefix` ranks, all but the first `omitted`.
struct values {
  slot_t all = 0;
  std::optional<slot_t> prefix, rest;
};

class adapting {
 public:
  adapting(rank_t ranks, rank_t ports, adaptation last)
      : ranks_(ranks), ports_(ports), last_(last), plan_(ranks), now_(ranks) {}

  schedule make() && {
    std::uint64_t const reach = reach_before_last(ranks_, ports_);
    if (last_.prefix == 1)
      for (values& own : now_) own.prefix = 0;
    for (std::uint64_t piece = 1; piece < reach; piece *= ports_ + 1) {
      before_ = now_;
      for (rank_t x = 0; x < ranks_; ++x) grow(x, piece);
      plan_.end_step();
    }
    before_ = now_;
    for (rank_t x = 0; x < ranks_; ++x) finish(x, reach);
    plan_.end_step();
    return std::move(plan_).finish();
  }

 private:
  // Pieces `from` down to `to`, as the ranks that many pieces back held them, farthest first.
  std::vector<source> pieces(rank_t x, std::uint64_t piece, std::uint64_t from, std::uint64_t to) const {
    std::vector<source> found;
    for (std::uint64_t j = from; j >= to; --j) {
      rank_t const giver = back(ranks_, x, j * piece);
      found.push_back({giver, before_[giver].all});
    }
    return found;
  }

  void grow(rank_t x, std::uint64_t piece) {
    values& own = now_[x];
    keep_rest(x, piece);
    auto all = pieces(x, piece, ports_, 1);
    if (last_.prefix > piece && last_.prefix <= piece * (ports_ + 1)) {
      std::uint64_t const count = last_.prefix / piece - 1;  // of this round's pieces that belong to the prefix
      auto prefix = pieces(x, piece, count, 1);
      prefix.push_back({x, before_[x].all});
      own.prefix = plan_.assign(x, 0, prefix);
      all = pieces(x, piece, ports_, count + 1);
      all.push_back({x, *own.prefix});
    } else {
      all.push_back({x, before_[x].all});
    }
    own.all = all.size() == 1 ? all[0].slot : plan_.assign(x, 0, all);
  }

  // The fold of what came in after the first `omitted` ranks, so that they can be left out without an inverse.
  void keep_rest(rank_t x, std::uint64_t piece) {
    std::uint64_t const reached =
        last_.omitted / piece;  // omitted = 1, or (count+1)·piece in the round that ends there
    if (last_.omitted == 0 || reached > ports_) return;
    auto rest = pieces(x, piece, ports_, before_[x].rest ? 1 : reached);
    if (before_[x].rest) rest.push_back({x, *before_[x].rest});
    now_[x].rest = plan_.assign(x, 0, rest);
  }

  void finish(rank_t x, std::uint64_t reach) {
    rank_t const farthest = back(ranks_, x, last_.whole * reach);
    std::vector<source> from{{farthest, *before_[farthest].prefix}};
    for (auto const& piece : pieces(x, reach, last_.whole - 1, 1)) from.push_back(piece);
    from.push_back({x, last_.omitted == 0 ? before_[x].all : *before_[x].rest});
    plan_.hold(x, 0, plan_.assign(x, 0, from));
  }

  rank_t ranks_, ports_;
  adaptation last_;
  assembly plan_;
  std::vector<values> now_, before_;
};

}  // namespace

schedule dissemination(rank_t ranks, rank_t ports) {
  assembly building(ranks);
  for (std::uint64_t distance = 1; distance < ranks; distance *= ports + 1) {
    for (rank_t x = 0; x < ranks; ++x) {
      std::vector<rank_t> from{x};
      for (rank_t j = 1; j <= ports; ++j) {
        rank_t const giver = back(ranks, x, j * distance);
        if (std::ranges::find(from, giver) != from.end()) break;  // once around the circle
        from.push_back(giver);
      }
      std::ranges::reverse(from);
      building.fold(x, {}, from);
    }
    building.end_step();
  }
  auto made = std::move(building).finish();
  made.idempotent_only = ranks % reach_before_last(ranks, ports) != 0;
  return made;
}

std::optional<adaptation> adapt(rank_t ranks, rank_t ports) {
  std::uint64_t const reach = reach_before_last(ranks, ports);
  auto const prefixes = prefix_lengths(reach, ports);
  auto omissions = prefixes;
  omissions.insert(omissions.begin(), 0);
  for (std::uint64_t const omitted : omissions)
    for (rank_t whole = 1; whole <= ports; ++whole)
      for (std::uint64_t const prefix : prefixes)
        if (whole * reach + prefix == ranks + omitted)
          return adaptation{whole, static_cast<rank_t>(prefix), static_cast<rank_t>(omitted)};
  return std::nullopt;
}

schedule adapted_dissemination(rank_t ranks, rank_t ports) {
  if (ranks == 1) return assembly(1).finish();
  auto const last = adapt(ranks, ports);
  if (!last)
    throw schedule_error("adapted_dissemination: " + std::to_string(ranks) +
                         " ranks cannot be reached exactly with n = " + std::to_string(ports) +
                         "; any n from 4 to 8 works up to 128 ranks, bruck_ho and latency always do");
  return adapting(ranks, ports, *last).make();
}

}  // namespace coset::schedule
