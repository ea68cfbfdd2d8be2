// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/composed/host_exchange.hpp"

#include <utility>

namespace coset::schedule {
namespace {

piece within(piece where, block const& inner) {
  fraction const size = where.high - where.low, low = where.low + inner.offset * size;
  return {low, low + inner.size * size};
}

}  // namespace

host_exchange::host_exchange(part between, leadership const& of, std::size_t host, bool by_ranks)
    : between_(std::move(between)), of_(of), host_(host) {
  auto const& blocks = between_.own.blocks;
  std::vector<piece> of_hosts;
  for (block const& b : blocks) of_hosts.push_back({of_.by_ranks(b.offset), of_.by_ranks(b.offset + b.size)});
  for (piece const& where : of_.pieces()) {
    for (std::size_t b = 0; b < blocks.size(); ++b)
      places_.push_back({by_ranks ? common(where, of_hosts[b]) : within(where, blocks[b]), {0, 0}});
  }
}

void host_exchange::append_cuts(std::vector<fraction>& cuts) const {
  for (placed const& one : places_) {
    if (!is_empty(one.where)) cuts.insert(cuts.end(), {one.where.low, one.where.high});
  }
}

void host_exchange::place_blocks(assembly const& building) {
  for (placed& one : places_) {
    if (!is_empty(one.where)) one.blocks = building.blocks_of(one.where);
  }
}

void host_exchange::add(assembly& building) {
  auto const blocks = static_cast<block_t>(between_.own.blocks.size());
  auto const for_each = [&](auto visit) {
    for (std::size_t p = 0; p < of_.pieces().size(); ++p) {
      for (block_t inner = 0; inner < blocks; ++inner) {
        for (block_t b = blocks_at(p, inner).first; b < blocks_at(p, inner).last; ++b)
          visit(of_.leader(host_, p), inner, b);
      }
    }
  };
  place_blocks(building);
  slots_.resize(building.blocks());
  for_each([&](rank_t leader, block_t, block_t b) { slots_[b] = {building.holds(leader, b)}; });
  departures_.resize(building.steps());
  for (std::size_t i = 0; i < between_.own.steps.size(); ++i) {
    departures_.emplace_back();
    for (std::size_t p = 0; p < of_.pieces().size(); ++p) add_step(building, i, p);
    building.end_step(true);
  }
  for_each([&](rank_t leader, block_t inner, block_t b) {
    slot_t const kept = between_.own.result[0][inner];
    if (kept != no_slot) building.hold(leader, b, slots_[b][kept]);
  });
  building.end_step();
}

void host_exchange::add_step(assembly& building, std::size_t step, std::size_t p) {
  rank_t const own = of_.leader(host_, p);
  for (departure const& d : between_.departures[step]) {
    rank_t const to = of_.first(d.to) + of_.leader(d.to, p);
    for (block_t b = blocks_at(p, d.block).first; b < blocks_at(p, d.block).last; ++b)
      departures_.back().push_back({own, b, slots_[b][d.slot], to, d.named, d.partial});
  }
  std::vector<source> sources;
  for (assignment const& a : between_.own.steps[step]) {
    for (block_t b = blocks_at(p, a.block).first; b < blocks_at(p, a.block).last; ++b) {
      auto& known = slots_[b];
      sources.clear();
      for (source const& s : between_.own.from(a)) {
        bool const here = s.rank == 0;
        sources.push_back(here ? source{own, known[s.slot]} : source{of_.ranks(host_), remote_index(p, s.slot)});
      }
      if (known.size() <= a.slot) known.resize(a.slot + 1, no_slot);
      known[a.slot] = building.assign(own, b, sources);
    }
  }
}

void host_exchange::finish(part& made) && {
  made.departures = std::move(departures_);
  made.departures.resize(made.own.steps.size());
  for (std::size_t p = 0; p < of_.pieces().size(); ++p) {
    for (remote_value const& v : between_.remote)
      made.remote.push_back({of_.first(v.rank) + of_.leader(v.rank, p), v.slot, v.partial});
  }
  made.own.idempotent_only = between_.own.idempotent_only;
  made.blocks = between_.blocks * of_.pieces().size();
  made.most_values += between_.most_values;
}

}  // namespace coset::schedule
