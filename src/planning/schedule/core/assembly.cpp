// SPDX-License-Identifier: Apache-2.0
// Building a schedule out of folds and of smaller schedules.
#include "planning/schedule/core/assembly.hpp"

#include <algorithm>

namespace coset::schedule {
namespace {

piece within(piece where, block const& inner) {
  fraction const size = where.high - where.low;
  fraction const low = where.low + inner.offset * size;
  return {low, low + inner.size * size};
}

}  // namespace

assembly::assembly(rank_t ranks, std::vector<fraction> cuts) : boundaries_(std::move(cuts)) {
  boundaries_.push_back(0);
  boundaries_.push_back(1);
  std::ranges::sort(boundaries_);
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());

  require_room(ranks, boundaries_.size() - 1);
  schedule_.ranks = ranks;
  for (std::size_t b = 0; b + 1 < boundaries_.size(); ++b)
    schedule_.blocks.push_back({boundaries_[b], boundaries_[b + 1] - boundaries_[b]});
  held_.assign(ranks * schedule_.blocks.size(), 0);
  used_ = held_;
}

assembly::range assembly::blocks_of(piece where) const {
  auto const at = [&](fraction boundary) {
    auto const found = std::ranges::lower_bound(boundaries_, boundary);
    if (found == boundaries_.end() || *found != boundary)
      throw schedule_error("no block begins or ends at " + boundary.text());
    return static_cast<block_t>(found - boundaries_.begin());
  };
  return {at(where.low), at(where.high)};
}

slot_t assembly::assign(rank_t rank, block_t block, std::span<source const> from) {
  slot_t const slot = ++used_[rank * schedule_.blocks.size() + block];
  auto const first = static_cast<std::uint32_t>(schedule_.sources.size());
  schedule_.sources.insert(schedule_.sources.end(), from.begin(), from.end());
  step_.push_back({rank, block, slot, first, static_cast<std::uint32_t>(from.size())});
  return slot;
}

void assembly::hold(rank_t rank, block_t block, slot_t slot) { updates_.push_back({rank, block, slot}); }

void assembly::fold(rank_t rank, piece where, std::span<rank_t const> from) {
  if (from.size() == 1 && from[0] == rank) return;
  auto const [first, last] = blocks_of(where);
  std::vector<source> sources(from.size());
  for (block_t b = first; b < last; ++b) {
    std::ranges::transform(from, sources.begin(), [&](rank_t r) { return source{r, held(r, b)}; });
    hold(rank, b, assign(rank, b, sources));
  }
}

void assembly::end_step(bool kept) {
  for (auto const& [rank, block, slot] : updates_) held(rank, block) = slot;
  updates_.clear();
  if (kept || !step_.empty()) schedule_.steps.push_back(std::move(step_));
  step_.clear();
}

// A part on its way: which slot of the larger schedule stands for each slot of the part.
class assembly::running {
 public:
  running(assembly& outer, mapped const& part) : outer_(outer), part_(part), all_(outer.blocks_of(part.where)) {
    for (block const& inner : part.inner.blocks) blocks_.push_back(outer.blocks_of(within(part.where, inner)));
    slots_.resize(part.members.size() * (all_.last - all_.first));
    for (rank_t r = 0; r < part.members.size(); ++r)
      for (block_t b = all_.first; b < all_.last; ++b) slot(r, b, 0) = outer.held(part.members[r], b);
  }

  void step(std::size_t number) {
    if (number >= part_.inner.steps.size()) return;
    std::vector<source> sources;
    for (assignment const& a : part_.inner.steps[number])
      for (block_t b = blocks_[a.block].first; b < blocks_[a.block].last; ++b) {
        sources.clear();
        for (source const& s : part_.inner.from(a)) sources.push_back({part_.members[s.rank], slot(s.rank, b, s.slot)});
        slot(a.rank, b, a.slot) = outer_.assign(part_.members[a.rank], b, sources);
      }
  }

  void keep_results() {
    for (rank_t r = 0; r < part_.members.size(); ++r)
      for (block_t inner = 0; inner < blocks_.size(); ++inner) {
        slot_t const kept = part_.inner.result[r][inner];
        if (kept == no_slot) continue;
        for (block_t b = blocks_[inner].first; b < blocks_[inner].last; ++b)
          outer_.held(part_.members[r], b) = slot(r, b, kept);
      }
  }

 private:
  slot_t& slot(rank_t rank, block_t block, slot_t inner) {
    auto& known = slots_[rank * (all_.last - all_.first) + block - all_.first];
    if (known.size() <= inner) known.resize(inner + 1, no_slot);
    return known[inner];
  }

  assembly& outer_;
  mapped const& part_;
  range all_;
  std::vector<range> blocks_;               // of the larger schedule, per block of the part
  std::vector<std::vector<slot_t>> slots_;  // [member][block][slot of the part]
};

void assembly::run(std::span<mapped const> parts) {
  std::vector<running> live;
  std::size_t longest = 0;
  for (mapped const& part : parts) {
    live.emplace_back(*this, part);
    longest = std::max(longest, part.inner.steps.size());
  }
  for (std::size_t step = 0; step < longest; ++step) {
    for (running& part : live) part.step(step);
    end_step();
  }
  for (running& part : live) part.keep_results();
}

void assembly::mirror(std::size_t first) {
  for (std::size_t step = schedule_.steps.size(); step-- > first;) {
    for (assignment const& a : schedule_.steps[step])
      for (std::uint32_t s = a.first; s < a.first + a.count; ++s) {
        rank_t const giver = schedule_.sources[s].rank;
        source const finished{a.rank, held(a.rank, a.block)};
        if (giver != a.rank) hold(giver, a.block, assign(giver, a.block, std::span(&finished, 1)));
      }
    end_step();
  }
}

schedule assembly::finish(verb what, rank_t root) && {
  schedule_.verb = what;
  if (detail::is_rooted(what)) schedule_.root = root;
  for (rank_t r = 0; r < schedule_.ranks; ++r) {
    auto& row = schedule_.result.emplace_back(schedule_.blocks.size(), no_slot);
    if (detail::is_to_root(what) && r != root) continue;
    for (block_t b = 0; b < row.size(); ++b) row[b] = held(r, b);
  }
  return std::move(schedule_);
}

void append_cuts(mapped const& part, std::vector<fraction>& cuts) {
  for (block const& inner : part.inner.blocks) {
    auto const [low, high] = within(part.where, inner);
    cuts.push_back(low);
    cuts.push_back(high);
  }
}

}  // namespace coset::schedule
