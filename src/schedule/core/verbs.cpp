// SPDX-License-Identifier: Apache-2.0
// Cutting blocks, keeping one origin, and dropping what is dead.
#include "schedule/core/verbs.hpp"

#include <algorithm>
#include <utility>

#include "schedule/core/required.hpp"

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

/// One number per (rank, block, slot), in flat storage.
class slot_table {
 public:
  explicit slot_table(schedule const& s) : blocks_(s.blocks.size()), first_(s.ranks * blocks_ + 1, 1) {
    for (auto const& step : s.steps)
      for (assignment const& a : step) {
        std::size_t& slots = first_[a.rank * blocks_ + a.block];
        slots = std::max(slots, std::size_t{a.slot} + 1);
      }
    std::size_t total = 0;
    for (std::size_t& entry : first_) total += std::exchange(entry, total);
    numbers_.assign(total, no_slot);
  }

  slot_t& operator()(rank_t rank, block_t block, slot_t slot) {
    return numbers_[first_[rank * blocks_ + block] + slot];
  }

 private:
  std::size_t blocks_;
  std::vector<std::size_t> first_;
  std::vector<slot_t> numbers_;
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

schedule derive(schedule allreduce, collective verb, rank_t root) {
  bool const rooted = verb == collective::reduce || verb == collective::broadcast;
  allreduce.verb = verb;
  allreduce.root = rooted ? std::optional(root) : std::nullopt;
  switch (verb) {
    case collective::allreduce:
    case collective::barrier:
      break;
    case collective::reduce_scatter:
      cut_at_pieces(allreduce);
      [[fallthrough]];
    case collective::reduce:
      keep_required_results(allreduce);
      prune(allreduce);
      break;
    case collective::allgather:
      cut_at_pieces(allreduce);
      [[fallthrough]];
    case collective::broadcast:
      keep_origins(allreduce);
      break;
    default:
      throw schedule_error(std::string(name_of(verb)) + " cannot be derived from an allreduce");
  }
  return allreduce;
}

}  // namespace coset::schedule
