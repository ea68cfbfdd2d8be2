// SPDX-License-Identifier: Apache-2.0
// Counting what ranks do in each step, and pricing it.
#include "schedule/cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numbers>

#include "schedule/events.hpp"

namespace coset::schedule {

namespace {

std::vector<rank_t> groups_of(cost_model const& model) {
  std::vector<rank_t> groups;
  for (link const& l : model.links) groups.push_back(l.group);
  return groups;
}

std::size_t level_of(rank_t a, rank_t b, std::vector<rank_t> const& groups) {
  std::size_t level = 0;
  while (level + 1 < groups.size() && a / groups[level] != b / groups[level]) ++level;
  return level;
}

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

work work_of(schedule const& s, std::span<event const> list, units const& unit, std::vector<rank_t> const& groups) {
  std::vector<std::int64_t> received(groups.size()), largest(groups.size());
  work done{{}, {}, std::vector<rank_t>(groups.size()), 0};
  auto const reads = reads_of(s, list);
  for (std::size_t first = 0, last = 0; first < reads.size(); first = last) {
    std::int64_t volume = 0;
    for (; last < reads.size() && reads[last].rank == reads[first].rank; ++last) volume += unit.size[reads[last].block];
    std::size_t const level = level_of(list.front().made->rank, reads[first].rank, groups);
    received[level] += volume;
    largest[level] = std::max(largest[level], volume);
    ++done.peers[level];
  }
  std::int64_t combined = 0;
  for (event const& e : list) combined += unit.size[e.made->block] * (std::int64_t{e.made->count} - 1);

  auto const vectors = [&](std::int64_t volume) {
    return static_cast<double>(volume) / static_cast<double>(unit.denominator);
  };
  std::ranges::transform(received, std::back_inserter(done.received), vectors);
  std::ranges::transform(largest, std::back_inserter(done.largest), vectors);
  done.combined = vectors(combined);
  return done;
}

/// Latencies are those of the slowest link used; volumes share the ports, but one peer has one port.
double seconds_of(work const& done, cost_model const& model, double bytes) {
  rank_t peers = 0;
  double latency = 0, rest = model.combine_per_byte * bytes * done.combined;
  for (std::size_t l = 0; l < model.links.size(); ++l) {
    if (done.peers[l] == 0) continue;
    link const& at = model.links[l];
    peers += done.peers[l];
    latency = std::max(latency, at.latency);
    rest +=
        at.per_peer * done.peers[l] + at.per_byte * bytes * std::max(done.largest[l], done.received[l] / model.ports);
  }
  double const rounds = std::ceil(static_cast<double>(peers) / model.peers_per_latency);
  double const beyond = peers > model.streams ? peers - model.streams : 0;
  return latency * rounds + rest + model.per_stream_beyond * beyond;
}

}  // namespace

cost_model cost_model::flat(double latency, double per_byte, double combine_per_byte) {
  cost_model model;
  model.links = {{UINT32_MAX, latency, per_byte}};
  model.combine_per_byte = combine_per_byte;
  return model;
}

counts::counts(schedule const& s, cost_model const& model) : counts(s, groups_of(model)) {}

counts::counts(schedule const& s, std::vector<rank_t> const& groups) : steps_(s.steps.size()) {
  if (groups.empty() || std::ranges::find(groups, rank_t{0}) != groups.end())
    throw schedule_error("a cost model needs at least one level, and none of 0 ranks");
  units const unit(s);
  std::vector<event> events = events_of(s);
  sort_by_step_and_rank(events, s);
  std::vector<std::vector<double>> received(s.ranks, std::vector<double>(groups.size()));
  for_each_list(events, [&](std::span<event const> list) {
    work done = work_of(s, list, unit, groups);
    auto& total = received[list.front().made->rank];
    for (std::size_t l = 0; l < groups.size(); ++l) total[l] += done.received[l];
    auto& known = steps_[list.front().step];
    if (std::ranges::find(known, done) == known.end()) known.push_back(std::move(done));
  });
  received_max_.assign(groups.size(), 0);
  for (auto const& total : received)
    for (std::size_t l = 0; l < groups.size(); ++l) received_max_[l] = std::max(received_max_[l], total[l]);
}

double counts::seconds(cost_model const& model, double bytes) const {
  double total = 0;
  for (auto const& works : steps_) {
    double slowest = 0;
    for (work const& done : works) slowest = std::max(slowest, seconds_of(done, model, bytes));
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
