// SPDX-License-Identifier: Apache-2.0
// Copies of a schedule, each on its segment of the vector and a step later.
#include "planning/schedule/composed/staggered.hpp"

#include "planning/schedule/pipelines/block_reads.hpp"

namespace coset::schedule {
namespace {

/// Appends segment `number` of so many.
void append(schedule const& once, block_t number, block_t segments, schedule& to) {
  auto const first_block = static_cast<block_t>(to.blocks.size());
  auto const first_source = static_cast<std::uint32_t>(to.sources.size());
  fraction const part(1, segments);
  for (block const& b : once.blocks) to.blocks.push_back({(b.offset + number) * part, b.size * part});
  for (rank_t r = 0; r < once.ranks; ++r)
    to.result[r].insert(to.result[r].end(), once.result[r].begin(), once.result[r].end());
  to.sources.insert(to.sources.end(), once.sources.begin(), once.sources.end());
  for (std::size_t step = 0; step < once.steps.size(); ++step)
    for (assignment a : once.steps[step]) {
      a.block += first_block;
      a.first += first_source;
      to.steps[step + number].push_back(a);
    }
}

}  // namespace

schedule staggered(schedule const& once, block_t segments) {
  if (segments == 0) throw schedule_error("a vector has one segment at least");
  require_blocks(once.ranks, segments);
  require_room(once.ranks, once.blocks.size() * segments);
  schedule made = once;
  made.blocks.clear();
  made.sources.clear();
  made.result.assign(once.ranks, {});
  made.steps.assign(once.steps.empty() ? 0 : once.steps.size() + segments - 1, {});
  for (block_t number = 0; number < segments; ++number) append(once, number, segments, made);
  return made;
}

}  // namespace coset::schedule
