// SPDX-License-Identifier: Apache-2.0
#include "planning/program/value_copies.hpp"

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

value_copies::value_copies(split_schedule const& s, policy const& p)
    : schedule_(s.own), policy_(p), blocks_(s.own.blocks.size()) {
  number();
  mark_messages(s);
  mark_offloads(s);
  name_values();
  mark_moved_copies();
  mark_reads(s);
  if (policy_.widens) mark_partials(s);
  if (policy_.in_place) mark_saved_inputs();
}

copy_t value_copies::only_source(assignment const& a) const {
  source const from = schedule_.from(a).front();
  return at(from.rank, a.block, from.slot);
}

void value_copies::number() {
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

void value_copies::name_values() {
  for (copy_t h = 0; h < all_.size(); ++h) all_[h].value = h;
  for_each_assignment([&](assignment const& a) {
    if (is_copy(a) && !all_[target(a)].received) all_[target(a)].value = all_[only_source(a)].value;
  });
}

/// Inputs are made by nobody, so their copies are fetched, unless their owners store them: of a gather, where one rank would
/// fetch what all have, while they wait for it; and where the policy says so. The root of a broadcast, which would have
/// everything to store, stores the block of its own number while its readers fetch the others.
bool value_copies::is_stored_by_owner(assignment const& a) const {
  value_copy const& copy = all_[target(a)];
  if (policy_.first != area::input || !copy.is_result || home_of(copy) != area::output) return false;
  if (policy_.how != copies::store) return detail::gives_pieces(schedule_.verb) && detail::is_to_root(schedule_.verb);
  rank_t const owner = schedule_.from(a).front().rank;
  return !detail::spreads_whole(schedule_.verb) || a.block % schedule_.ranks == owner;
}

/// A copy from a peer rides on the operation that makes its source (push), or on the fold at the root of its chain
/// (forward, store).
void value_copies::mark_moved_copies() {
  if (policy_.how == copies::pull) return;
  auto const moves = [&](assignment const& a) {
    if (!is_copy(a) || all_[target(a)].received || schedule_.from(a).front().rank == a.rank) return false;
    return all_[only_source(a)].made_by != nullptr || is_stored_by_owner(a);
  };
  auto const rides = [&](value_copy const& copy) {
    return copy.made_by != nullptr && moves(*copy.made_by) && all_[only_source(*copy.made_by)].made_by != nullptr;
  };
  for_each_assignment([&](assignment const& a) {
    if (!moves(a)) return;
    copy_t writer = only_source(a);
    while (policy_.how != copies::push && rides(all_[writer])) writer = only_source(*all_[writer].made_by);
    all_[writer].riders.push_back(target(a));
    all_[target(a)].moved = true;
  });
}

void value_copies::mark_reads(split_schedule const& s) {
  for_each_assignment([&](assignment const& a) {
    if (all_[target(a)].moved) return;
    for (source const& from : schedule_.from(a)) {
      value_copy& h = all_[at(from.rank, a.block, from.slot)];
      h.read = true;
      h.peers_read |= from.rank != a.rank;
      h.far_reads |= !s.is_near(from.rank, a.rank);
    }
  });
}

/// Partial results are what is folded further, here or elsewhere; results that are only copied are rounded where they
/// are made. Of what messages bring the sender's domain knows.
void value_copies::mark_partials(split_schedule const& s) {
  auto const mark = [&](copy_t h) {
    value_copy& made = all_[all_[h].value];
    made.is_partial |= made.made_by != nullptr;
  };
  for_each_assignment([&](assignment const& a) {
    if (is_copy(a)) return;
    for (source const& from : schedule_.from(a)) mark(at(from.rank, a.block, from.slot));
  });
  for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
    for (slice const& one : s.slices[i]) {
      for (assignment const& a : one) mark(only_source(a));
    }
    for (sent_value const& v : s.sent[i]) {
      if (v.partial) mark(at(v.rank, v.block, v.slot));
    }
    for (std::size_t k = 0; k < s.received[i].size(); ++k)
      all_[target(schedule_.steps[i][k])].is_partial = s.received[i][k].partial;
  }
}

void value_copies::mark_messages(split_schedule const& s) {
  for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
    for (sent_value const& v : s.sent[i]) all_[at(v.rank, v.block, v.slot)].sent = true;
    if (!s.has_messages[i]) continue;
    for (assignment const& a : schedule_.steps[i]) all_[target(a)].received = all_[target(a)].moved = true;
  }
}

/// An offload takes its value from staging and leaves what comes of it there, as messages do.
void value_copies::mark_offloads(split_schedule const& s) {
  for (auto const& slices : s.slices) {
    for (slice const& one : slices) {
      for (assignment const& a : one) {
        all_[target(a)].received = all_[target(a)].moved = true;
        all_[only_source(a)].sent = true;
      }
    }
  }
}

/// In place, the result of a block ends its input; what the own rank still makes of that, as exclusive scans do, it
/// makes of a copy.
void value_copies::mark_saved_inputs() {
  std::vector<char> done(schedule_.ranks * blocks_, false);
  for_each_assignment([&](assignment const& a) {
    copy_t const input = at(a.rank, a.block, 0);
    for (source const& from : schedule_.from(a)) {
      if (from.rank == a.rank && from.slot == 0 && done[cell(a.rank, a.block)]) all_[input].saved = true;
    }
    if (all_[target(a)].is_result) done[cell(a.rank, a.block)] = true;
  });
}

}  // namespace coset::program
