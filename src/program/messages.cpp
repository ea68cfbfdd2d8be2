// SPDX-License-Identifier: Apache-2.0
// What ranks of other domains hold is brought by messages first; whoever folds it then reads within its own domain. Or
// it is offloaded, without anybody's reading it.

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "program/operation.hpp"
#include "text/format.hpp"

namespace coset::program {
namespace {

using schedule::assignment;
using schedule::block_t;
using schedule::slot_t;
using schedule::source;

class splitting {
 public:
  splitting(schedule::schedule const& s, distribution const& d, bool offloads)
      : of_(d), offloads_(offloads), blocks_(s.blocks.size()), made_{s, {}, {}} {
    for (rank_t r = 0; r < s.ranks; r = d.last[r]) domains_.push_back(r);
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
  bool is_remote(rank_t reader, rank_t owner) const { return of_.first[reader] != of_.first[owner]; }

  void split(std::vector<assignment> step) {
    std::vector<assignment> messages, rest;
    if (offloads_) append_offloads(step);
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

  /// A copy whose reader is its own proxy need not be copied again.
  bool is_message(assignment const& a) const {
    return a.count == 1 && of_.proxy[a.rank] == a.rank && is_remote(a.rank, made_.whole.from(a).front().rank);
  }

  void import_sources(assignment& a, std::vector<assignment>& messages) {
    std::vector<source> from(made_.whole.from(a).begin(), made_.whole.from(a).end());
    if (std::ranges::none_of(from, [&](source const& s) { return is_remote(a.rank, s.rank); })) return;
    for (source& s : from) {
      if (!is_remote(a.rank, s.rank)) continue;
      rank_t const proxy = of_.proxy[a.rank];
      auto const [at, is_new] =
          brought_.try_emplace({of_.first[a.rank], s.rank, s.slot, a.block}, source{proxy, slot_t{0}});
      if (is_new) {
        at->second.slot = slots_[cell(proxy, a.block)]++;
        messages.push_back({proxy, a.block, at->second.slot, add({&s, 1}), 1});
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
    made_.slices.emplace_back();
  }

  /// The domain, counted from 0, of a fold of one value of each domain, in their order; nothing of any other one.
  std::optional<std::size_t> offloaded_in(assignment const& a) const {
    auto const from = made_.whole.from(a);
    if (a.count != domains_.size()) return {};
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      if (of_.first[from[d].rank] != domains_[d]) return {};
    }
    auto const at = std::ranges::find(domains_, of_.first[a.rank]);
    return static_cast<std::size_t>(at - domains_.begin());
  }

  using sources_of_block = std::pair<block_t, std::vector<std::pair<rank_t, slot_t>>>;

  sources_of_block sources_of(assignment const& a) const {
    sources_of_block found{a.block, {}};
    for (source const& s : made_.whole.from(a)) found.second.emplace_back(s.rank, s.slot);
    return found;
  }

  /// Groups the folds of the same values, one in each domain. Folds with the same ranks and source ranks are one slice.
  std::vector<slice> slices_of(std::vector<assignment> const& step) const {
    std::map<sources_of_block, std::vector<std::vector<assignment>>> alike;
    for (assignment const& a : step) {
      auto const domain = offloaded_in(a);
      if (!domain) continue;
      auto& there = alike[sources_of(a)];
      there.resize(domains_.size());
      there[*domain].push_back(a);
    }
    std::map<std::vector<rank_t>, slice> by_ranks;
    for (auto const& [what, there] : alike) {
      if (std::ranges::any_of(there, [](auto const& folds) { return folds.size() != 1; })) continue;
      std::vector<rank_t> ranks;
      for (auto const& folds : there) ranks.push_back(folds.front().rank);
      for (auto const& from : what.second) ranks.push_back(from.first);
      slice& one = by_ranks[ranks];
      one.resize(domains_.size());
      for (std::size_t d = 0; d < domains_.size(); ++d) one[d].push_back(there[d].front());
    }
    std::vector<slice> found;
    for (auto& [ranks, one] : by_ranks) found.push_back(std::move(one));
    return found;
  }

  /// Takes them out of the step and makes them one of their own.
  void append_offloads(std::vector<assignment>& step) {
    auto slices = slices_of(step);
    if (slices.empty()) return;
    std::vector<assignment> offloaded;
    for (slice const& one : slices) {
      for (auto const& folds : one) offloaded.insert(offloaded.end(), folds.begin(), folds.end());
    }
    std::erase_if(step, [&](assignment const& a) {
      return std::ranges::any_of(offloaded, [&](assignment const& c) {
        return std::tie(a.rank, a.block, a.slot) == std::tie(c.rank, c.block, c.slot);
      });
    });
    append(std::move(offloaded), false);
    made_.slices.back() = std::move(slices);
  }

  distribution const& of_;
  bool const offloads_;
  std::size_t const blocks_;
  std::vector<rank_t> domains_;  ///< the first rank of each
  split_schedule made_;
  std::vector<slot_t> slots_;  ///< [rank · blocks + block]: the next one that is free
  std::map<imported, source> brought_;
};

}  // namespace

split_schedule with_messages(schedule::schedule const& s, distribution const& d, bool offloads) {
  bool const one_domain = d.whole() || d.last[0] == s.ranks;
  if (offloads && (one_domain || d.combiners.empty())) {
    throw schedule_error(one_domain ? "+library combines what several hosts have; all ranks of this team share memory"
                                    : "+library needs a team made with mpi::options::library_leaders");
  }
  if (d.whole()) return {s, std::vector<char>(s.steps.size(), false), std::vector<std::vector<slice>>(s.steps.size())};
  auto made = splitting(s, d, offloads).result();
  if (!offloads) return made;
  std::size_t most = 0;
  for (auto const& slices : made.slices) most = std::max(most, slices.size());
  if (most == 0) {
    throw schedule_error(
        "+library needs a step in which one rank of each host folds one value of every host, as "
        "two_level(between=direct,saved_steps=1) has");
  }
  if (most > d.combiners.size()) {
    throw schedule_error(text::format("+library needs mpi::options::library_leaders = {} for this schedule, not {}",
                                      most, d.combiners.size()));
  }
  return made;
}

std::vector<std::vector<rank_t>> combiners_of(distribution const& spread, rank_t slices) {
  std::vector<std::vector<rank_t>> by_slice(slices);
  for (rank_t first = 0; first < spread.first.size(); first = spread.last[first]) {
    std::vector<rank_t> proxies;
    for (rank_t r = first; r < spread.last[first]; ++r) {
      if (spread.proxy[r] == r) proxies.push_back(r);
    }
    for (rank_t s = 0; s < slices; ++s) by_slice[s].push_back(proxies[s % proxies.size()]);
  }
  return by_slice;
}

void require_offloads(schedule::schedule const& s, distribution const& d) { with_messages(s, d, true); }

}  // namespace coset::program
