// SPDX-License-Identifier: Apache-2.0
#include "program/holders.hpp"

#include <algorithm>

namespace coset::program {

using schedule::assignment;
using schedule::block_t;
using schedule::no_slot;
using schedule::slot_t;
using schedule::source;

namespace {

bool is_copy(assignment const& a) { return a.count == 1; }

}  // namespace

holders::holders(split_schedule const& s, policy const& p)
    : schedule_(s.whole), policy_(p), blocks_(s.whole.blocks.size()) {
  number();
  name_values();
  mark_messages(s);
  mark_moved_copies();
  mark_reads();
  if (policy_.widens) mark_partials();
  if (policy_.in_place) mark_saved_inputs();
}

holder_t holders::only_source(assignment const& a) const { return contributed(a, 0); }

holder_t holders::contributed(assignment const& a, std::size_t domain) const {
  source const from = schedule_.from(a)[domain];
  return at(from.rank, a.block, from.slot);
}

void holders::number() {
  std::vector<slot_t> slots(schedule_.ranks * blocks_, 1);
  for_each_assignment(
      [&](assignment const& a) { slots[cell(a.rank, a.block)] = std::max(slots[cell(a.rank, a.block)], a.slot + 1); });
  first_.resize(slots.size() + 1, 0);
  for (std::size_t c = 0; c < slots.size(); ++c) first_[c + 1] = first_[c] + slots[c];
  all_.resize(first_.back());
  for (rank_t r = 0; r < schedule_.ranks; ++r) {
    for (block_t b = 0; b < blocks_; ++b) {
      if (schedule_.result[r][b] != no_slot) all_[at(r, b, schedule_.result[r][b])].is_result = true;
    }
  }
  for_each_assignment([&](assignment const& a) { all_[target(a)].made_by = &a; });
}

void holders::name_values() {
  for (holder_t h = 0; h < all_.size(); ++h) all_[h].value = h;
  for_each_assignment([&](assignment const& a) {
    if (is_copy(a)) all_[target(a)].value = all_[only_source(a)].value;
  });
}

/// A copy from a peer rides on the operation that makes its source (push), or on the fold at the root of its chain
/// (forward). Inputs are made by nobody, so their first copy is always pulled.
void holders::mark_moved_copies() {
  if (policy_.how == copies::pull) return;
  auto const moves = [&](assignment const& a) {
    return is_copy(a) && !all_[target(a)].received && schedule_.from(a).front().rank != a.rank &&
           all_[only_source(a)].made_by != nullptr;
  };
  for_each_assignment([&](assignment const& a) {
    if (!moves(a)) return;
    holder_t carrier = only_source(a);
    while (policy_.how == copies::forward && moves(*all_[carrier].made_by))
      carrier = only_source(*all_[carrier].made_by);
    all_[carrier].riders.push_back(target(a));
    all_[target(a)].moved = true;
  });
}

void holders::mark_reads() {
  for_each_assignment([&](assignment const& a) {
    if (all_[target(a)].moved) return;
    for (source const& from : schedule_.from(a)) {
      holder& h = all_[at(from.rank, a.block, from.slot)];
      h.read = true;
      h.peers_read |= from.rank != a.rank;
    }
  });
}

/// Partial results are what is folded further; results that are only copied are rounded where they are made.
void holders::mark_partials() {
  for_each_assignment([&](assignment const& a) {
    if (is_copy(a)) return;
    for (source const& from : schedule_.from(a)) {
      holder& made = all_[all_[at(from.rank, a.block, from.slot)].value];
      made.is_partial = made.made_by != nullptr;
    }
  });
}

void holders::mark_messages(split_schedule const& s) {
  for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
    for (slice const& one : s.slices[i]) mark_combination(one);
    if (!s.has_messages[i]) continue;
    for (assignment const& a : schedule_.steps[i]) {
      all_[target(a)].received = all_[target(a)].moved = true;
      all_[only_source(a)].sent = true;
    }
  }
}

/// A combination takes its value from staging and leaves what comes of it there, as messages do.
void holders::mark_combination(slice const& one) {
  for (std::size_t domain = 0; domain < one.size(); ++domain) {
    for (assignment const& a : one[domain]) {
      all_[target(a)].received = all_[target(a)].moved = true;
      all_[contributed(a, domain)].sent = true;
    }
  }
}

/// In place, the result of a block overwrites its input; if the rank itself still needs the input, as in exclusive
/// scans, it works on a copy.
void holders::mark_saved_inputs() {
  std::vector<char> done(schedule_.ranks * blocks_, false);
  for_each_assignment([&](assignment const& a) {
    holder_t const input = at(a.rank, a.block, 0);
    for (source const& from : schedule_.from(a)) {
      if (from.rank == a.rank && from.slot == 0 && done[cell(a.rank, a.block)]) all_[input].saved = true;
    }
    if (all_[target(a)].is_result) done[cell(a.rank, a.block)] = true;
  });
}

}  // namespace coset::program
