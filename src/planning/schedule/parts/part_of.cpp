// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/parts/part_of.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace coset::schedule {
namespace {

/// Numbers what is read of other hosts.
class remote_values {
 public:
  slot_t index_of(remote_value const& value) {
    auto const [at, is_new] = known_.try_emplace({value.rank, value.slot, value.partial}, slot_t(all_.size()));
    if (is_new) all_.push_back(value);
    return at->second;
  }
  std::vector<remote_value> take() && { return std::move(all_); }

 private:
  std::map<std::tuple<rank_t, slot_t, bool>, slot_t> known_;
  std::vector<remote_value> all_;
};

/// Which values are results of folds and are folded further, copies followed.
class partial_values {
 public:
  partial_values(schedule const& s, part_options const& options) : schedule_(s), blocks_(s.blocks.size()) {
    std::vector<slot_t> slots(s.ranks * blocks_, 1);
    for_each([&](assignment const& a, std::size_t) { slots[cell(a)] = std::max(slots[cell(a)], a.slot + 1); });
    first_.resize(slots.size() + 1, 0);
    for (std::size_t c = 0; c < slots.size(); ++c) first_[c + 1] = first_[c] + slots[c];
    origin_.resize(first_.back());
    std::iota(origin_.begin(), origin_.end(), std::size_t{0});
    is_fold_.assign(origin_.size(), false);
    is_folded_.assign(origin_.size(), false);
    for (rank_t r = 0; r < options.inputs_are_folds.size(); ++r) {
      for (block_t b = 0; b < blocks_; ++b) is_fold_[at(r, b, 0)] = options.inputs_are_folds[r];
    }
    for_each([&](assignment const& a, std::size_t) {
      if (a.count == 1) {
        source const from = s.from(a).front();
        origin_[at(a.rank, a.block, a.slot)] = origin_[at(from.rank, a.block, from.slot)];
        return;
      }
      is_fold_[at(a.rank, a.block, a.slot)] = true;
      for (source const& from : s.from(a)) is_folded_[origin_[at(from.rank, a.block, from.slot)]] = true;
    });
    for (rank_t r = 0; options.results_are_folded && r < s.ranks; ++r) {
      for (block_t b = 0; b < blocks_; ++b) {
        if (s.result[r][b] != no_slot) is_folded_[origin_[at(r, b, s.result[r][b])]] = true;
      }
    }
  }

  bool operator()(rank_t rank, block_t block, slot_t slot) const {
    std::size_t const o = origin_[at(rank, block, slot)];
    return is_fold_[o] && is_folded_[o];
  }

 private:
  std::size_t cell(assignment const& a) const { return a.rank * blocks_ + a.block; }
  std::size_t at(rank_t rank, block_t block, slot_t slot) const { return first_[rank * blocks_ + block] + slot; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      for (assignment const& a : schedule_.steps[i]) visit(a, i);
    }
  }

  schedule const& schedule_;
  std::size_t const blocks_;
  std::vector<std::size_t> first_;   // [rank · blocks + block]: its slot 0
  std::vector<std::size_t> origin_;  // the first copy of a value
  std::vector<char> is_fold_, is_folded_;
};

class extraction {
 public:
  extraction(schedule const& whole, std::span<rank_t const> hosts, std::size_t host, part_options const& options)
      : whole_(whole),
        hosts_(hosts),
        first_(hosts[host]),
        last_(hosts[host + 1]),
        options_(options),
        is_partial_(whole, options),
        values_(whole.ranks * whole.blocks.size(), 1),
        brought_((hosts.size() - 1) * whole.blocks.size(), 0) {}

  part run() {
    frame();
    for (std::size_t i = 0; i < whole_.steps.size(); ++i) {
      made_.own.steps.emplace_back();
      made_.departures.emplace_back();
      bool const combined = i < options_.combined.size() && options_.combined[i];
      for (assignment const& a : whole_.steps[i]) {
        count_values(a);
        if (is_here(a.rank))
          add(a, combined);
        else if (!combined)
          add_departures(a);
      }
    }
    made_.remote = std::move(remote_).take();
    made_.most_values = most_values();
    return std::move(made_);
  }

 private:
  bool is_here(rank_t r) const { return first_ <= r && r < last_; }
  std::size_t host_of(rank_t r) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(hosts_, r) - hosts_.begin()) - 1;
  }

  void frame() {
    made_.own.verb = whole_.verb;
    made_.own.algorithm = whole_.algorithm;
    made_.own.parameters = whole_.parameters;
    if (whole_.root && is_here(*whole_.root)) made_.own.root = *whole_.root - first_;
    made_.own.ranks = last_ - first_;
    made_.own.idempotent_only = whole_.idempotent_only;
    made_.own.blocks = whole_.blocks;
    made_.own.result.assign(whole_.result.begin() + first_, whole_.result.begin() + last_);
    made_.first = first_;
    made_.blocks = whole_.blocks.size();
  }

  void count_values(assignment const& a) {
    ++values_[a.rank * whole_.blocks.size() + a.block];
    std::size_t const host = host_of(a.rank);
    for (source const& s : whole_.from(a)) brought_[host * whole_.blocks.size() + a.block] += host_of(s.rank) != host;
  }

  /// One rank may receive what all ranks of its host read elsewhere.
  slot_t most_values() const {
    slot_t most = 1;
    for (rank_t r = 0; r < whole_.ranks; ++r) {
      for (block_t b = 0; b < whole_.blocks.size(); ++b) {
        slot_t const brought = brought_[host_of(r) * whole_.blocks.size() + b];
        most = std::max(most, values_[r * whole_.blocks.size() + b] + brought);
      }
    }
    return most;
  }

  void add(assignment a, bool combined) {
    auto const first = static_cast<std::uint32_t>(made_.own.sources.size());
    for (source const& s : whole_.from(a)) {
      if (is_here(s.rank))
        made_.own.sources.push_back({s.rank - first_, s.slot});
      else if (!combined)
        made_.own.sources.push_back(
            {made_.own.ranks, remote_.index_of({s.rank, s.slot, is_partial_(s.rank, a.block, s.slot)})});
    }
    a.rank -= first_;
    a.first = first;
    a.count = static_cast<std::uint32_t>(made_.own.sources.size()) - first;
    made_.own.steps.back().push_back(a);
  }

  void add_departures(assignment const& a) {
    for (source const& s : whole_.from(a)) {
      if (!is_here(s.rank) || !gone_.insert({host_of(a.rank), s.rank, s.slot, a.block}).second) continue;
      made_.departures.back().push_back(
          {s.rank - first_, a.block, s.slot, a.rank, s.slot, is_partial_(s.rank, a.block, s.slot)});
    }
  }

  schedule const& whole_;
  std::span<rank_t const> hosts_;
  rank_t const first_, last_;
  part_options const& options_;
  partial_values const is_partial_;
  part made_;
  remote_values remote_;
  std::vector<slot_t> values_;   // [rank · blocks + block]: made there
  std::vector<slot_t> brought_;  // [host · blocks + block]: read there of other hosts
  std::set<std::tuple<std::size_t, rank_t, slot_t, block_t>> gone_;
};

/// Of a fold over a group copies are not folded further, but for its inputs.
class symmetric_partials {
 public:
  explicit symmetric_partials(symmetric_schedule const& s)
      : of_(s), is_fold_(s.result.size()), is_folded_(s.result.size()) {
    for (auto const& step : s.steps) {
      for (symmetric_assignment const& a : step) {
        note(is_fold_[a.lag], a.slot, a.count > 1);
        for (auto const& from : std::span(s.sources).subspan(a.first, a.count))
          note(is_folded_[lag_of(a, from)], from.slot, a.count > 1);
      }
    }
  }

  element lag_of(symmetric_assignment const& a, symmetric_source const& from) const {
    return of_.whole ? 0 : of_.ranks.add(a.lag, from.displacement);
  }

  bool operator()(element lag, slot_t slot, bool input_is_fold) const {
    bool const folded = slot < is_folded_[lag].size() && is_folded_[lag][slot];
    return folded && (slot == 0 ? input_is_fold : is_fold_[lag][slot] != 0);
  }

 private:
  static void note(std::vector<char>& of, slot_t slot, bool what) {
    if (of.size() <= slot) of.resize(slot + 1, false);
    of[slot] |= what;
  }

  symmetric_schedule const& of_;
  std::vector<std::vector<char>> is_fold_, is_folded_;  // [lag][slot]
};

bool is_fold(part_options const& options, rank_t rank) {
  return rank < options.inputs_are_folds.size() && options.inputs_are_folds[rank];
}

/// What lies `displacement` behind reads of this rank what this one reads of who lies as far ahead.
std::vector<departure> departures_of(symmetric_schedule const& s, std::vector<symmetric_assignment> const& step,
                                     rank_t rank, symmetric_partials const& partial, bool input_is_fold,
                                     std::set<std::tuple<rank_t, block_t, slot_t>>& gone) {
  std::vector<departure> all;
  for (symmetric_assignment const& a : step) {
    for (auto const& from : std::span(s.sources).subspan(a.first, a.count)) {
      if (from.displacement == 0) continue;
      rank_t const reader = s.ranks.subtract(rank, from.displacement);
      block_t const block = s.whole ? 0 : s.ranks.subtract(reader, a.lag);
      if (!gone.insert({reader, block, from.slot}).second) continue;
      all.push_back(
          {0, block, from.slot, reader, from.slot, partial(partial.lag_of(a, from), from.slot, input_is_fold)});
    }
  }
  return all;
}

}  // namespace

part part_of(schedule const& whole, std::span<rank_t const> hosts, std::size_t host, part_options const& options) {
  return extraction(whole, hosts, host, options).run();
}

part part_of(symmetric_schedule const& s, rank_t rank, part_options const& options) {
  symmetric_partials const partial(s);
  part made;
  made.own = view(s, rank);
  made.own.ranks = 1;
  made.own.result = {made.own.result[rank]};
  made.first = rank;
  made.blocks = made.own.blocks.size();
  made.alike = true;
  remote_values remote;
  std::vector<slot_t> values(made.own.blocks.size(), 1);
  for (auto& step : made.own.steps) {
    for (assignment& a : step) {
      a.rank = 0;
      ++values[a.block];
      for (source& from : std::span(made.own.sources).subspan(a.first, a.count)) {
        if (from.rank == rank) {
          from.rank = 0;
          continue;
        }
        ++values[a.block];
        element const lag = s.whole ? 0 : s.ranks.add(s.ranks.negate(a.block), from.rank);
        from = {1, remote.index_of({from.rank, from.slot, partial(lag, from.slot, is_fold(options, from.rank))})};
      }
    }
  }
  made.remote = std::move(remote).take();
  made.most_values = *std::ranges::max_element(values);
  std::set<std::tuple<rank_t, block_t, slot_t>> gone;
  for (auto const& step : s.steps)
    made.departures.push_back(departures_of(s, step, rank, partial, is_fold(options, rank), gone));
  return made;
}

}  // namespace coset::schedule
