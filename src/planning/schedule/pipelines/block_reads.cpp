// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/pipelines/block_reads.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {
namespace {

std::uint32_t steps_of(block_reads const& reads) {
  std::uint32_t steps = 0;
  for (block_read const& r : reads) steps = std::max(steps, r.step + 1);
  return steps;
}

std::vector<fraction> equal_cuts(std::size_t blocks) {
  std::vector<fraction> cuts;
  for (std::size_t b = 1; b < blocks; ++b)
    cuts.push_back({static_cast<std::int64_t>(b), static_cast<std::int64_t>(blocks)});
  return cuts;
}

void add(assembly& building, block_read const& r) {
  std::array from{source{r.giver, building.holds(r.giver, r.block)}, source{r.reader, 0}};
  if (r.folds) from[1].slot = building.holds(r.reader, r.block);
  if (r.folds && r.reader < r.giver) std::swap(from[0], from[1]);
  building.hold(r.reader, r.block, building.assign(r.reader, r.block, std::span(from).first(r.folds ? 2 : 1)));
}

}  // namespace

void require_blocks(rank_t ranks, block_t blocks) {
  if (blocks > most_blocks)
    throw schedule_error("blocks=" + std::to_string(blocks) + " are too many: take " + std::to_string(most_blocks) +
                         " at most");
  require_room(ranks, blocks);
}

void append(block_reads& reads, block_read next, std::uint32_t period, block_t blocks, block_t stride) {
  for (std::uint64_t block = next.block; block < blocks; block += stride, next.step += period) {
    next.block = static_cast<block_t>(block);
    reads.push_back(next);
  }
}

schedule schedule_of_reads(rank_t ranks, std::size_t blocks, block_reads const& reads, verb what, rank_t root) {
  assembly building(ranks, equal_cuts(blocks));
  constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> of_step(steps_of(reads), none), after(reads.size());  // lists, a step's last read first
  for (std::uint32_t i = 0; i < reads.size(); ++i) after[i] = std::exchange(of_step[reads[i].step], i);
  for (std::uint32_t const last : of_step) {
    for (std::uint32_t i = last; i != none; i = after[i]) add(building, reads[i]);
    building.end_step();
  }
  return std::move(building).finish(what, root);
}

schedule schedule_of_broadcast(rank_t ranks, std::size_t blocks, block_reads reads, verb what, rank_t root) {
  std::uint32_t const steps = steps_of(reads);
  bool const folds = !detail::only_moves(what);
  for (std::size_t i = 0, copies = folds ? reads.size() : 0; i < copies; ++i) {
    block_read const copy = reads[i];
    reads[i] = {steps - 1 - copy.step, copy.giver, copy.reader, copy.block, true};
    if (detail::folds_for_all(what))
      append(reads, {steps + copy.step, copy.reader, copy.giver, copy.block}, 0, copy.block + 1);
  }
  return schedule_of_reads(ranks, blocks, reads, what, root);
}

}  // namespace coset::schedule
