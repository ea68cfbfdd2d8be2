// SPDX-License-Identifier: Apache-2.0
// Counting what ranks do in each step, and pricing it.
#include "schedule/model/cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <numeric>

#include "schedule/core/events.hpp"

namespace coset::schedule {

namespace {

struct value_read {
  rank_t rank;
  block_t block;
  slot_t slot;
  friend auto operator<=>(value_read const&, value_read const&) = default;
};

/// The different values that a rank reads from its peers in one step, sorted by peer.
std::vector<value_read> reads_of(schedule const& s, std::span<event const> list) {
  std::vector<value_read> reads;
  for (event const& e : list)
    for (source const& from : s.from(*e.made))
      if (from.rank != e.made->rank) reads.push_back({from.rank, e.made->block, from.slot});
  std::ranges::sort(reads);
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  return reads;
}

/// What one rank reads in one step by level, in whole units.
struct reading {
  explicit reading(std::size_t levels) : received(levels), largest(levels), peers(levels) {}

  std::vector<std::int64_t> received, largest;
  std::vector<rank_t> peers;
};

reading reading_of(schedule const& s, std::span<event const> list, units const& unit, rank_levels const& levels) {
  reading found(levels.count());
  auto const reads = reads_of(s, list);
  for (std::size_t first = 0, last = 0; first < reads.size(); first = last) {
    std::int64_t volume = 0;
    for (; last < reads.size() && reads[last].rank == reads[first].rank; ++last) volume += unit.size[reads[last].block];
    std::size_t const level = levels.joining(list.front().made->rank, reads[first].rank);
    found.received[level] += volume;
    found.largest[level] = std::max(found.largest[level], volume);
    ++found.peers[level];
  }
  return found;
}

work work_of(reading const& read, std::span<event const> list, units const& unit) {
  auto const vectors = [&](std::int64_t volume) { return unit.vectors(volume); };
  work done;
  std::ranges::transform(read.received, std::back_inserter(done.received), vectors);
  std::ranges::transform(read.largest, std::back_inserter(done.largest), vectors);
  done.peers = read.peers;
  std::int64_t combined = 0;
  for (event const& e : list) combined += unit.size[e.made->block] * (std::int64_t{e.made->count} - 1);
  done.combined = vectors(combined);
  return done;
}

/// [rank][level]: what all ranks of the rank's group of the level below read from outside that group in one step.
/// `readings` are those of `readers`.
std::vector<std::vector<std::int64_t>> entering(std::vector<rank_t> const& readers,
                                                std::vector<reading> const& readings, rank_levels const& levels) {
  std::vector<std::vector<std::int64_t>> of(readers.size(), std::vector<std::int64_t>(levels.count()));
  for (std::size_t l = 1; l < levels.count(); ++l) {
    std::map<unsigned, std::int64_t> groups;
    for (std::size_t k = 0; k < readers.size(); ++k) {
      auto const& read = readings[k].received;
      groups[levels.domain(readers[k], l - 1)] +=
          std::accumulate(read.begin() + static_cast<std::ptrdiff_t>(l), read.end(), std::int64_t{0});
    }
    for (std::size_t k = 0; k < readers.size(); ++k) of[k][l] = groups[levels.domain(readers[k], l - 1)];
  }
  return of;
}

}  // namespace

std::vector<rank_t> groups_of(cost_model const& model) {
  std::vector<rank_t> groups;
  for (link const& l : model.links) groups.push_back(l.group);
  return groups;
}

cost_model cost_model::flat(double latency, double per_byte, double combine_per_byte) {
  cost_model model;
  model.links = {{UINT32_MAX, latency, per_byte}};
  model.combine_per_byte = combine_per_byte;
  return model;
}

counts::counts(schedule const& s, cost_model const& model) : counts(s, rank_levels(s.ranks, groups_of(model))) {}

counts::counts(schedule const& s, rank_levels const& levels) : steps_(s.steps.size()) {
  if (levels.ranks() != s.ranks)
    throw schedule_error("the levels have " + std::to_string(levels.ranks()) + " ranks, the schedule has " +
                         std::to_string(s.ranks));
  units const unit(s);
  std::vector<event> events = events_of(s);
  sort_by_step_and_rank(events, s);
  std::vector<std::vector<std::int64_t>> received(levels.count(), std::vector<std::int64_t>(s.ranks));
  std::vector<rank_t> readers;
  std::vector<reading> readings;
  std::vector<work> works;
  std::uint32_t step = 0;
  auto const end_step = [&] {
    auto const from_outside = entering(readers, readings, levels);
    for (std::size_t k = 0; k < works.size(); ++k) {
      std::ranges::transform(from_outside[k], std::back_inserter(works[k].entering),
                             [&](std::int64_t volume) { return unit.vectors(volume); });
      if (std::ranges::find(steps_[step], works[k]) == steps_[step].end()) steps_[step].push_back(works[k]);
    }
    readers.clear(), readings.clear(), works.clear();
  };
  for_each_list(events, [&](std::span<event const> list) {
    if (list.front().step != step) end_step();
    step = list.front().step;
    readers.push_back(list.front().made->rank);
    readings.push_back(reading_of(s, list, unit, levels));
    works.push_back(work_of(readings.back(), list, unit));
    for (std::size_t l = 0; l < levels.count(); ++l) received[l][readers.back()] += readings.back().received[l];
  });
  if (!works.empty()) end_step();
  for (auto const& of_rank : received)
    volumes_.push_back({{std::accumulate(of_rank.begin(), of_rank.end(), std::int64_t{0}), unit.denominator},
                        {*std::ranges::max_element(of_rank), unit.denominator}});
}

counts::counts(symmetric_schedule const& s) {
  struct read {
    element displacement, lag;
    slot_t slot;
    auto operator<=>(read const&) const = default;
  };
  rank_t const ranks = s.ranks.order(), blocks = s.whole ? 1 : ranks;
  auto const vectors = [&](std::int64_t volume) { return static_cast<double>(volume) / blocks; };
  std::int64_t of_rank = 0;
  for (auto const& step : s.steps) {
    std::vector<read> reads;
    std::int64_t combined = 0, received = 0, largest = 0;
    rank_t peers = 0;
    for (symmetric_assignment const& a : step) {
      combined += std::int64_t{a.count} - 1;
      for (symmetric_source const& from : std::span(s.sources).subspan(a.first, a.count))
        if (from.displacement != 0) reads.push_back({from.displacement, a.lag, from.slot});
    }
    std::ranges::sort(reads);
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (std::size_t first = 0, last = 0; first < reads.size(); first = last, ++peers) {
      while (last < reads.size() && reads[last].displacement == reads[first].displacement) ++last;
      largest = std::max(largest, static_cast<std::int64_t>(last - first));
    }
    received = static_cast<std::int64_t>(reads.size());
    of_rank += received;
    steps_.push_back({{{vectors(received)}, {vectors(largest)}, {peers}, {0}, vectors(combined)}});
  }
  volumes_.push_back({fraction(of_rank, blocks) * ranks, fraction(of_rank, blocks)});
}

price& price::operator+=(price const& more) {
  latency += more.latency;
  peers += more.peers;
  transfer += more.transfer;
  combine += more.combine;
  return *this;
}

// Latencies are those of the slowest link used; volumes share the ports, but one peer has one port. Nobody's transfer
// ends before what enters its group has passed the group's link.
price price_of(work const& done, cost_model const& model, double bytes) {
  price sum;
  sum.combine = model.combine_per_byte * bytes * done.combined;
  rank_t peers = 0;
  double latency = 0, shared = 0;
  for (std::size_t l = 0; l < model.links.size(); ++l) {
    link const& at = model.links[l];
    shared = std::max(shared, at.shared * bytes * done.entering[l]);
    if (done.peers[l] == 0) continue;
    peers += done.peers[l];
    latency = std::max(latency, at.latency);
    sum.peers += at.per_peer * done.peers[l];
    sum.transfer += at.per_byte * bytes * std::max(done.largest[l], done.received[l] / model.ports);
  }
  sum.transfer = std::max(sum.transfer, shared);
  sum.latency = latency * std::ceil(static_cast<double>(peers) / model.peers_per_latency);
  if (peers > model.streams) sum.peers += model.per_stream_beyond * (peers - model.streams);
  return sum;
}

price price_of(std::vector<std::vector<work>> const& steps, cost_model const& model, double bytes) {
  price total;
  for (auto const& works : steps) {
    price slowest;
    for (work const& done : works) {
      price const one = price_of(done, model, bytes);
      if (one.total() > slowest.total()) slowest = one;
    }
    total += slowest;
  }
  return total;
}

// With u = m/P and L = ceil(log2 P), saving r steps is taken to cost (L − 1)(2^r − 1)u more volume, [KZ] (36), and
// L(2^r − 1)u more combines, against r latencies. The minimum of that in r:
std::uint32_t saved_steps(cost_model const& model, rank_t ranks, double bytes) {
  auto const levels = static_cast<double>(std::bit_width(ranks - 1));
  link const& outer = model.links.back();
  double const per_vector = (levels - 1) * outer.per_byte + levels * model.combine_per_byte;
  double const doubled = outer.latency * ranks / (std::numbers::ln2 * bytes * per_vector);
  double const best = doubled > 0 ? std::log2(doubled) : 0;  // infinite where nothing is to be sent: then save all
  return static_cast<std::uint32_t>(std::lround(std::clamp(best, 0.0, levels)));
}

}  // namespace coset::schedule
