// SPDX-License-Identifier: Apache-2.0
// Carrying (hi, lo) for every value: hi is the run's part up to the last rank, lo its part from rank 0.
#include "planning/schedule/core/rank_order.hpp"

#include <string>
#include <utility>

namespace coset::schedule {

namespace {

/// Ranks start, start + 1, … modulo P. A complete value is one slot, `hi`, whatever its start was.
struct run {
  rank_t start = 0, length = 0;
  slot_t hi = no_slot, lo = no_slot;
};

class splitter {
 public:
  explicit splitter(schedule const& from) : from_(from), made_(from) {
    made_.sources.clear();
    runs_.resize(from.ranks * from.blocks.size());
    used_.assign(runs_.size(), 0);
    for (rank_t r = 0; r < from.ranks; ++r)
      for (block_t b = 0; b < from.blocks.size(); ++b) at({r, 0}, b) = {r, 1, 0, no_slot};
  }

  schedule split() && {
    for (std::size_t i = 0; i < from_.steps.size(); ++i) {
      made_.steps[i].clear();
      for (assignment const& a : from_.steps[i]) {
        run const joined = join(a, made_.steps[i]);  // before at() may move the runs
        at({a.rank, a.slot}, a.block) = joined;
      }
    }
    for (rank_t r = 0; r < from_.ranks; ++r)
      for (block_t b = 0; b < from_.blocks.size(); ++b) made_.result[r][b] = at({r, from_.result[r][b]}, b).hi;
    return std::move(made_);
  }

 private:
  run& at(source const& place, block_t b) {
    auto& runs = runs_[place.rank * from_.blocks.size() + b];
    if (runs.size() <= place.slot) runs.resize(std::size_t{place.slot} + 1);
    return runs[place.slot];
  }

  run join(assignment const& a, std::vector<assignment>& step) {
    std::vector<source> hi, lo;
    run joined;
    for (source const& from : from_.from(a)) {
      run const next = at(from, a.block);
      if (joined.length == 0) joined.start = next.start;
      std::uint64_t const position = std::uint64_t{joined.start} + joined.length;
      if (next.length == 0 || next.start != position % from_.ranks || joined.length + next.length > from_.ranks)
        throw schedule_error("rank " + std::to_string(a.rank) + ", block " + std::to_string(a.block) + ", slot " +
                             std::to_string(a.slot) + ": does not join runs of ranks in cyclic order");
      (position < from_.ranks ? hi : lo).push_back({from.rank, next.hi});
      if (next.lo != no_slot) lo.push_back({from.rank, next.lo});
      joined.length += next.length;
    }
    if (joined.length == from_.ranks) {
      lo.insert(lo.end(), hi.begin(), hi.end());
      return {0, joined.length, assign(a, lo, step), no_slot};
    }
    joined.hi = assign(a, hi, step);
    if (!lo.empty()) joined.lo = assign(a, lo, step);
    return joined;
  }

  /// A part that the rank has already is not copied.
  slot_t assign(assignment const& a, std::vector<source> const& from, std::vector<assignment>& step) {
    if (from.size() == 1 && from.front().rank == a.rank) return from.front().slot;
    slot_t const slot = ++used_[a.rank * from_.blocks.size() + a.block];
    step.push_back({a.rank, a.block, slot, static_cast<std::uint32_t>(made_.sources.size()),
                    static_cast<std::uint32_t>(from.size())});
    made_.sources.insert(made_.sources.end(), from.begin(), from.end());
    return slot;
  }

  schedule const& from_;
  schedule made_;
  std::vector<std::vector<run>> runs_;  // [rank][block][slot of the original]
  std::vector<slot_t> used_;            // [rank][block]
};

}  // namespace

schedule in_rank_order(schedule const& cyclic) { return splitter(cyclic).split(); }

}  // namespace coset::schedule
