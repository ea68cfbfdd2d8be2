// SPDX-License-Identifier: Apache-2.0
#include "schedule/pipelines/read_steps.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "schedule/core/assembly.hpp"

namespace coset::schedule {
namespace {

void add(assembly& building, block_read const& r) {
  source const given{r.giver, building.holds(r.giver, r.block)};
  std::array both{source{r.reader, building.holds(r.reader, r.block)}, given};
  if (r.giver < r.reader) std::swap(both[0], both[1]);
  std::span<source const> const from = r.folds ? std::span<source const>(both) : std::span(&given, 1);
  building.hold(r.reader, r.block, building.assign(r.reader, r.block, from));
}

std::vector<fraction> equal_cuts(std::size_t blocks) {
  std::vector<fraction> cuts;
  for (std::size_t b = 1; b < blocks; ++b)
    cuts.emplace_back(static_cast<std::int64_t>(b), static_cast<std::int64_t>(blocks));
  return cuts;
}

}  // namespace

void append(read_steps& steps, block_stream const& s, block_t blocks) {
  std::size_t step = s.first_step;
  for (std::uint64_t block = s.first_block; block < blocks; block += s.stride, step += s.period) {
    if (steps.size() <= step) steps.resize(step + 1);
    steps[step].push_back({s.reader, s.giver, static_cast<block_t>(block), s.folds});
  }
}

read_steps reversed(read_steps const& broadcast) {
  read_steps reduction(broadcast.rbegin(), broadcast.rend());
  for (auto& step : reduction)
    for (block_read& r : step) r = {r.giver, r.reader, r.block, true};
  return reduction;
}

schedule schedule_of_reads(rank_t ranks, std::size_t blocks, read_steps const& steps, collective verb, rank_t root) {
  assembly building(ranks, equal_cuts(blocks));
  for (auto const& step : steps) {
    for (block_read const& r : step) add(building, r);
    building.end_step();
  }
  return std::move(building).finish(verb, root);
}

schedule schedule_of_broadcast(rank_t ranks, std::size_t blocks, read_steps broadcast, collective verb, rank_t root) {
  if (verb == collective::broadcast) return schedule_of_reads(ranks, blocks, broadcast, verb, root);
  read_steps steps = reversed(broadcast);
  if (verb == collective::allreduce) std::ranges::move(broadcast, std::back_inserter(steps));
  return schedule_of_reads(ranks, blocks, steps, verb, root);
}

}  // namespace coset::schedule
