// SPDX-License-Identifier: Apache-2.0
// What ranks of other domains hold is brought by messages first; whoever folds it then reads within its own domain.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "program/operation.hpp"

namespace coset::program {
namespace {

using schedule::assignment;
using schedule::block_t;
using schedule::slot_t;
using schedule::source;

class splitting {
 public:
  splitting(schedule::schedule const& s, distribution const& d) : of_(d), blocks_(s.blocks.size()), made_{s, {}} {
    made_.whole.steps.clear();
    slots_.resize(s.ranks * blocks_, 1);
    for (auto const& step : s.steps) {
      for (assignment const& a : step)
        slots_[cell(a.rank, a.block)] = std::max(slots_[cell(a.rank, a.block)], a.slot + 1);
    }
    for (auto const& step : s.steps) split(step);
  }

  split_schedule result() && { return std::move(made_); }

 private:
  /// A value in a domain: the domain's first rank, then whose value it is there.
  using imported = std::tuple<rank_t, rank_t, slot_t, block_t>;

  std::size_t cell(rank_t rank, block_t block) const { return rank * blocks_ + block; }
  bool is_remote(rank_t reader, rank_t holder) const { return of_.first[reader] != of_.first[holder]; }

  void split(std::vector<assignment> const& step) {
    std::vector<assignment> messages, rest;
    for (assignment a : step) {
      if (is_message(a)) {
        source const from = made_.whole.from(a).front();
        brought_.try_emplace({of_.first[a.rank], from.rank, from.slot, a.block}, source{a.rank, a.slot});
        messages.push_back(a);
      } else {
        rest.push_back(a);
      }
    }
    for (assignment& a : rest) import_sources(a, messages);
    append(std::move(messages), true);
    append(std::move(rest), false);
  }

  /// A copy whose reader is its own carrier need not be copied again.
  bool is_message(assignment const& a) const {
    return a.count == 1 && of_.carrier[a.rank] == a.rank && is_remote(a.rank, made_.whole.from(a).front().rank);
  }

  void import_sources(assignment& a, std::vector<assignment>& messages) {
    std::vector<source> from(made_.whole.from(a).begin(), made_.whole.from(a).end());
    if (std::ranges::none_of(from, [&](source const& s) { return is_remote(a.rank, s.rank); })) return;
    for (source& s : from) {
      if (!is_remote(a.rank, s.rank)) continue;
      rank_t const carrier = of_.carrier[a.rank];
      auto const [at, is_new] =
          brought_.try_emplace({of_.first[a.rank], s.rank, s.slot, a.block}, source{carrier, slot_t{0}});
      if (is_new) {
        at->second.slot = slots_[cell(carrier, a.block)]++;
        messages.push_back({carrier, a.block, at->second.slot, add({&s, 1}), 1});
      }
      s = at->second;
    }
    a.first = add(from);
  }

  std::uint32_t add(std::span<source const> from) {
    auto const first = static_cast<std::uint32_t>(made_.whole.sources.size());
    made_.whole.sources.insert(made_.whole.sources.end(), from.begin(), from.end());
    return first;
  }

  void append(std::vector<assignment> step, bool messages) {
    if (step.empty()) return;
    made_.whole.steps.push_back(std::move(step));
    made_.has_messages.push_back(messages);
  }

  distribution const& of_;
  std::size_t const blocks_;
  split_schedule made_;
  std::vector<slot_t> slots_;  ///< [rank · blocks + block]: the next one that is free
  std::map<imported, source> brought_;
};

}  // namespace

split_schedule with_messages(schedule::schedule const& s, distribution const& d) {
  if (d.whole()) return {s, std::vector<char>(s.steps.size(), false)};
  return splitting(s, d).result();
}

}  // namespace coset::program
