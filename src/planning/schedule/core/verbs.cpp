// SPDX-License-Identifier: Apache-2.0
// Cutting blocks, keeping one origin, and dropping what is dead.
#include "planning/schedule/core/verbs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planning/schedule/core/required.hpp"

namespace coset::schedule {

namespace {

/// The sub-blocks of a block between the multiples of 1/P.
std::vector<block> cut(block const& whole, rank_t ranks) {
  std::vector<block> parts;
  fraction const end = whole.offset + whole.size;
  for (fraction begin = whole.offset; begin < end;) {
    fraction const next = std::min(end, fraction((begin * ranks).floor() + 1, ranks));
    parts.push_back({begin, next - begin});
    begin = next;
  }
  return parts;
}

/// Cuts all blocks at the ranks' pieces; each part is treated as its block was.
void cut_at_pieces(schedule& s) {
  std::vector<block_t> first{0};  // of the parts of each block
  std::vector<block> blocks;
  for (block const& b : s.blocks) {
    auto const parts = cut(b, s.ranks);
    blocks.insert(blocks.end(), parts.begin(), parts.end());
    first.push_back(static_cast<block_t>(blocks.size()));
  }
  require_room(s.ranks, blocks.size());
  for (auto& step : s.steps) {
    std::vector<assignment> cut_step;
    for (assignment a : step)
      for (block_t b = first[a.block]; b < first[a.block + 1]; ++b)
        cut_step.push_back({a.rank, b, a.slot, a.first, a.count});
    step = std::move(cut_step);
  }
  for (auto& slots : s.result) {
    std::vector<slot_t> cut_slots;
    for (block_t b = 0; b < s.blocks.size(); ++b) cut_slots.insert(cut_slots.end(), first[b + 1] - first[b], slots[b]);
    slots = std::move(cut_slots);
  }
  s.blocks = std::move(blocks);
}

/// Every value becomes the origin's input: a rank copies a block when it first reads from a rank that has it.
void keep_origins(schedule& s) {
  enum class state : char { without, has_input, has_copy, copies_now };
  requirements const required(s);
  std::vector<state> states(s.ranks * s.blocks.size());
  auto const at = [&](rank_t r, block_t b) -> state& { return states[r * s.blocks.size() + b]; };
  for (rank_t r = 0; r < s.ranks; ++r)
    for (block_t b = 0; b < s.blocks.size(); ++b) {
      if (required.has_input(r, b)) at(r, b) = state::has_input;
      s.result[r][b] = required.has_input(r, b) ? 0 : 1;
    }
  std::vector<source> sources;
  for (auto& step : s.steps) {
    std::vector<assignment> copies;
    for (assignment const& a : step) {
      if (at(a.rank, a.block) != state::without) continue;
      for (source const& from : s.from(a)) {
        state const holder = at(from.rank, a.block);
        if (holder != state::has_input && holder != state::has_copy) continue;
        copies.push_back({a.rank, a.block, 1, static_cast<std::uint32_t>(sources.size()), 1});
        sources.push_back({from.rank, holder == state::has_input ? slot_t{0} : slot_t{1}});
        at(a.rank, a.block) = state::copies_now;
        break;
      }
    }
    for (assignment const& c : copies) at(c.rank, c.block) = state::has_copy;
    step = std::move(copies);
  }
  s.sources = std::move(sources);
  std::erase_if(s.steps, [](auto const& step) { return step.empty(); });
}

/// Numbers all (rank, block, slot) that there are from 0.
class slot_numbers {
 public:
  explicit slot_numbers(schedule const& s) : blocks_(s.blocks.size()), first_(s.ranks * blocks_ + 1, 1) {
    for (auto const& step : s.steps)
      for (assignment const& a : step) {
        std::size_t& slots = first_[a.rank * blocks_ + a.block];
        slots = std::max(slots, std::size_t{a.slot} + 1);
      }
    std::exclusive_scan(first_.begin(), first_.end(), first_.begin(), std::size_t{0});
  }

  std::size_t size() const { return first_.back(); }
  std::size_t index(rank_t rank, block_t block, slot_t slot) const { return first_[rank * blocks_ + block] + slot; }

 private:
  std::size_t blocks_;
  std::vector<std::size_t> first_;
};

/// One new number per (rank, block, slot).
class slot_table {
 public:
  explicit slot_table(schedule const& s) : at_(s), numbers_(at_.size(), no_slot) {}

  slot_t& operator()(rank_t rank, block_t block, slot_t slot) { return numbers_[at_.index(rank, block, slot)]; }

 private:
  slot_numbers at_;
  std::vector<slot_t> numbers_;
};

/// A contribution to a partial result: whose it is, and the slot of its copy at the rank that has the result.
struct contribution {
  rank_t origin;
  slot_t slot;
};

/// From a reduce_scatter to an all_to_all: what a fold combines is moved instead, each contribution to a slot of its own.
class exchange_making {
 public:
  /// One block of each piece shows the way of all of it.
  explicit exchange_making(schedule const& folds) : folds_(folds), ranks_(folds.ranks), held_(folds) {
    first_.assign(folds.blocks.size(), false);
    for (block_t b = 0; b < folds.blocks.size(); ++b)
      if ((folds.blocks[b].offset * ranks_).denominator() == 1) first_[b] = true;
    require_room(ranks_, moves() / ranks_);
  }

  schedule run() {
    contributions_.resize(held_.size());
    used_.assign(std::size_t{ranks_} * ranks_, 0);
    made_.ranks = ranks_;
    for (rank_t r = 0; r < ranks_; ++r) made_.blocks.push_back({fraction(r, ranks_), fraction(1, ranks_)});
    made_.result.assign(ranks_, std::vector<slot_t>(ranks_, 0));
    for (auto const& step : folds_.steps) {
      made_.steps.emplace_back();
      for (assignment const& a : step)
        if (first_[a.block]) gather(a);
    }
    keep_results();
    std::erase_if(made_.steps, [](auto const& step) { return step.empty(); });
    return std::move(made_);
  }

 private:
  rank_t owner(block_t b) const { return static_cast<rank_t>((folds_.blocks[b].offset * ranks_).floor()); }
  rank_t distance(rank_t origin, block_t b) const { return (owner(b) + ranks_ - origin) % ranks_; }

  /// How many copies there will be: contributions of sources that are elsewhere.
  std::size_t moves() {
    std::vector<std::size_t> contributors(held_.size(), 1);
    std::size_t all = 0;
    for (auto const& step : folds_.steps)
      for (assignment const& a : step) {
        if (!first_[a.block]) continue;
        std::size_t sum = 0;
        for (source const& from : folds_.from(a)) {
          std::size_t const more = contributors[held_.index(from.rank, a.block, from.slot)];
          sum += more;
          if (from.rank != a.rank) all += more;
        }
        contributors[held_.index(a.rank, a.block, a.slot)] = sum;
      }
    return all;
  }

  /// Each rank begins with its next neighbour, so that not all read from one.
  void gather(assignment const& a) {
    std::vector<contribution> sum;
    auto const sources = folds_.from(a);
    auto const next = static_cast<std::size_t>(
        std::ranges::count_if(sources, [&](source const& from) { return from.rank <= a.rank; }));
    for (std::size_t k = 0; k < sources.size(); ++k) {
      source const& from = sources[(next + k) % sources.size()];
      if (from.slot == 0) {
        sum.push_back({from.rank, from.rank == a.rank ? 0 : move(a, from.rank, {from.rank, 0})});
        continue;
      }
      for (contribution const& c : contributions_[held_.index(from.rank, a.block, from.slot)])
        sum.push_back({c.origin, from.rank == a.rank ? c.slot : move(a, c.origin, {from.rank, c.slot})});
    }
    contributions_[held_.index(a.rank, a.block, a.slot)] = std::move(sum);
  }

  slot_t move(assignment const& to, rank_t origin, source from) {
    block_t const block = distance(origin, to.block);
    slot_t const slot = ++used_[std::size_t{to.rank} * ranks_ + block];
    made_.steps.back().push_back({to.rank, block, slot, static_cast<std::uint32_t>(made_.sources.size()), 1});
    made_.sources.push_back(from);
    return slot;
  }

  void keep_results() {
    for (block_t b = 0; b < folds_.blocks.size(); ++b) {
      rank_t const here = owner(b);
      if (!first_[b] || folds_.result[here][b] == 0) continue;
      for (contribution const& c : contributions_[held_.index(here, b, folds_.result[here][b])])
        made_.result[here][distance(c.origin, b)] = c.slot;
    }
  }

  schedule const& folds_;
  rank_t const ranks_;
  slot_numbers held_;
  std::vector<char> first_;                               // [block of the folds]: begins a piece
  std::vector<std::vector<contribution>> contributions_;  // [value of the folds]
  std::vector<slot_t> used_;                              // [rank][block]
  schedule made_;
};

}  // namespace

void keep_required_results(schedule& s) {
  requirements const required(s);
  for (rank_t r = 0; r < s.ranks; ++r)
    for (block_t b = 0; b < s.blocks.size(); ++b)
      if (required(r, b).empty()) s.result[r][b] = no_slot;
}

void prune(schedule& s) {
  constexpr slot_t needed = 0;
  slot_table slots(s);
  for (rank_t r = 0; r < s.ranks; ++r)
    for (block_t b = 0; b < s.blocks.size(); ++b)
      if (s.result[r][b] != no_slot) slots(r, b, s.result[r][b]) = needed;
  for (std::size_t i = s.steps.size(); i-- > 0;)
    for (std::size_t k = s.steps[i].size(); k-- > 0;)
      if (assignment const& a = s.steps[i][k]; slots(a.rank, a.block, a.slot) == needed)
        for (source const& from : s.from(a)) slots(from.rank, a.block, from.slot) = needed;

  std::vector<slot_t> used(s.ranks * s.blocks.size(), 0);
  std::vector<source> sources;
  for (auto& step : s.steps) {
    std::erase_if(step, [&](assignment const& a) { return slots(a.rank, a.block, a.slot) == no_slot; });
    for (assignment& a : step) {
      slot_t& number = slots(a.rank, a.block, a.slot);
      a.slot = number = ++used[a.rank * s.blocks.size() + a.block];
      auto const first = static_cast<std::uint32_t>(sources.size());
      for (source const& from : s.from(a)) sources.push_back({from.rank, slots(from.rank, a.block, from.slot)});
      a.first = first;
    }
  }
  s.sources = std::move(sources);
  for (rank_t r = 0; r < s.ranks; ++r)
    for (block_t b = 0; b < s.blocks.size(); ++b)
      if (s.result[r][b] != no_slot) s.result[r][b] = slots(r, b, s.result[r][b]);
  std::erase_if(s.steps, [](auto const& step) { return step.empty(); });
}

schedule derive(schedule allreduce, verb what, rank_t root) {
  allreduce.verb = what;
  allreduce.root = detail::is_rooted(what) ? std::optional(root) : std::nullopt;
  if (detail::is_scan(what) || !has_schedules(what))
    throw schedule_error(std::string(name_of(what)) + " cannot be derived from an allreduce");
  if (detail::swaps_pieces(what)) {
    schedule made = exchange_making(derive(std::move(allreduce), detail::row_of(what).derived_from[0])).run();
    made.verb = what;
    return made;
  }
  if (detail::is_of_pieces(what)) cut_at_pieces(allreduce);
  bool const moves = detail::only_moves(what) && !detail::is_barrier(what);
  if (moves) keep_origins(allreduce);
  if (detail::is_to_root(what) || detail::gets_pieces(what)) {
    keep_required_results(allreduce);
    prune(allreduce);
  }
  return allreduce;
}

}  // namespace coset::schedule
