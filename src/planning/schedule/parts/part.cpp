// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/parts/part.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

namespace coset::schedule {
namespace {

void move_blocks(std::vector<std::vector<assignment>>& steps, std::vector<block_t> const& position) {
  for (auto& step : steps) {
    for (assignment& a : step) a.block = position[a.block];
  }
}

/// What happens to each block, as numbers that are equal where blocks are treated alike.
std::vector<std::vector<std::uint64_t>> treatments_of(part const& p) {
  std::vector<std::vector<std::uint64_t>> all(p.own.blocks.size());
  auto const pair = [](std::uint64_t high, std::uint64_t low) { return high << 32 | low; };
  for (std::size_t i = 0; i < p.own.steps.size(); ++i) {
    for (assignment const& a : p.own.steps[i]) {
      auto& of = all[a.block];
      of.insert(of.end(), {2 * i, pair(a.rank, a.slot), a.count});
      for (source const& s : p.own.from(a)) of.push_back(pair(s.rank, s.slot));
    }
    // Blocks may list what is read of them in different orders.
    std::map<block_t, std::vector<std::array<std::uint64_t, 4>>> read;
    for (departure const& d : p.departures[i])
      read[d.block].push_back({2 * i + 1, pair(d.from, d.slot), pair(d.to, d.named), std::uint64_t{d.partial}});
    for (auto& [block, departures] : read) {
      std::ranges::sort(departures);
      for (auto const& d : departures) all[block].insert(all[block].end(), d.begin(), d.end());
    }
  }
  for (auto const& slots : p.own.result) {
    for (block_t b = 0; b < slots.size(); ++b) all[b].push_back(slots[b]);
  }
  return all;
}

}  // namespace

void move_blocks(schedule& s, std::vector<block_t> const& position) {
  move_blocks(s.steps, position);
  for (auto& slots : s.result) {
    if (slots.empty()) continue;
    auto moved = slots;
    for (block_t b = 0; b < slots.size(); ++b) moved[position[b]] = slots[b];
    slots = std::move(moved);
  }
}

void move_blocks(part& p, std::vector<block_t> const& position) {
  move_blocks(p.own, position);
  for (auto& step : p.departures) {
    for (departure& d : step) d.block = position[d.block];
  }
}

void merge_alike_blocks(part& p) {
  auto const treated = treatments_of(p);
  std::vector<block_t> merged(treated.size());
  std::vector<char> stays(treated.size(), true);
  std::vector<block> blocks;
  for (block_t b = 0; b < treated.size(); ++b) {
    stays[b] = b == 0 || treated[b] != treated[b - 1];
    if (stays[b])
      blocks.push_back(p.own.blocks[b]);
    else
      blocks.back().size += p.own.blocks[b].size;
    merged[b] = static_cast<block_t>(blocks.size() - 1);
  }
  for (auto& step : p.own.steps) {
    std::erase_if(step, [&](assignment const& a) { return !stays[a.block]; });
    for (assignment& a : step) a.block = merged[a.block];
  }
  for (auto& step : p.departures) {
    std::erase_if(step, [&](departure const& d) { return !stays[d.block]; });
    for (departure& d : step) d.block = merged[d.block];
  }
  for (auto& slots : p.own.result) {
    for (block_t b = 0; b < slots.size(); ++b) slots[merged[b]] = slots[b];
    slots.resize(blocks.size());
  }
  p.own.blocks = std::move(blocks);
}

}  // namespace coset::schedule
