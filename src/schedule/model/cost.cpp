// SPDX-License-Identifier: Apache-2.0
// Counting what ranks do in each step, and pricing it.
#include "schedule/model/cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "schedule/core/events.hpp"

namespace coset::schedule {

namespace {

/// What passes the border of a group.
struct border {
  std::int64_t in = 0, out = 0;
};

/// What all ranks give in a step, and what crosses borders of groups.
class givers {
 public:
  givers(step_messages const& step, rank_levels const& levels)
      : levels_(levels), sent_(levels.ranks()), borders_(levels.count()) {
    for (auto const& m : step.messages) {
      std::size_t const level = levels.joining(m.to, m.from);
      count(m.volume, level, sent_[m.from]);
      for (std::size_t l = 1; l <= level; ++l) {
        border_of(l, levels.domain(m.to, l - 1)).in += m.volume;
        border_of(l, levels.domain(m.from, l - 1)).out += m.volume;
      }
    }
  }

  port sent_by(rank_t rank, units const& unit) const { return port_of(rank, &border::out, sent_[rank], unit); }
  port received_by(rank_t rank, std::span<step_messages::message const> read, units const& unit) const {
    volumes all;
    for (auto const& m : read) count(m.volume, levels_.joining(m.to, m.from), all);
    return port_of(rank, &border::in, all, unit);
  }

 private:
  /// In whole units, by level up to the last one that is used.
  struct at_level {
    std::int64_t volume = 0, largest = 0;
    rank_t peers = 0;
  };
  using volumes = std::vector<at_level>;

  border& border_of(std::size_t level, unsigned group) {
    if (borders_[level].size() <= group) borders_[level].resize(group + 1);
    return borders_[level][group];
  }

  static void count(std::int64_t volume, std::size_t level, volumes& to) {
    if (to.size() <= level) to.resize(level + 1);
    to[level].volume += volume;
    to[level].largest = std::max(to[level].largest, volume);
    ++to[level].peers;
  }

  port port_of(rank_t rank, std::int64_t border::*direction, volumes const& of, units const& unit) const {
    port made(levels_.count());
    for (std::size_t l = 0; l < levels_.count(); ++l) {
      if (l < of.size()) made[l] = {unit.vectors(of[l].volume), unit.vectors(of[l].largest), 0, of[l].peers};
      if (l == 0) continue;
      unsigned const group = levels_.domain(rank, l - 1);
      if (group < borders_[l].size()) made[l].of_group = unit.vectors(borders_[l][group].*direction);
    }
    return made;
  }

  rank_levels const& levels_;
  std::vector<volumes> sent_;
  std::vector<std::vector<border>> borders_;  // [level][domain of the level below]
};

template <class Of>
void add_if_new(Of one, std::vector<Of>& to) {
  if (std::ranges::find(to, one) == to.end()) to.push_back(std::move(one));
}

/// A rank with each of those that it reads from, as far as they differ.
void add_works(work own, std::span<step_messages::message const> read, givers const& all, units const& unit,
               std::vector<work>& to) {
  std::vector<port> from;
  for (auto const& m : read) add_if_new(all.sent_by(m.from, unit), from);
  if (from.empty()) from.emplace_back();
  for (port& peer : from) {
    own.sent = std::move(peer);
    add_if_new(own, to);
  }
}

}  // namespace

std::vector<rank_t> groups_of(cost_model const& model) {
  std::vector<rank_t> groups;
  for (link const& l : model.links) groups.push_back(l.group);
  return groups;
}

cost_model cost_model::flat(double latency, double per_byte, double combine_per_byte) {
  cost_model model;
  model.links = {{UINT32_MAX, latency, per_byte, 0, 0, 1}};
  model.combine_per_byte = combine_per_byte;
  return model;
}

counts::counts(schedule const& s, cost_model const& model) : counts(s, rank_levels(s.ranks, groups_of(model))) {}

counts::counts(schedule const& s, rank_levels const& levels) : steps_(s.steps.size()) {
  if (levels.ranks() != s.ranks)
    throw schedule_error("the levels have " + std::to_string(levels.ranks()) + " ranks, the schedule has " +
                         std::to_string(s.ranks));
  units const unit(s);
  std::vector<std::vector<std::int64_t>> received(levels.count(), std::vector<std::int64_t>(s.ranks));
  for (std::size_t i = 0; i < s.steps.size(); ++i) {
    auto const step = messages_in(s, i, unit);
    givers const all(step, levels);
    for (auto const& m : step.messages) received[levels.joining(m.to, m.from)][m.to] += m.volume;
    step.for_each_rank([&](rank_t rank, std::int64_t combined, auto read) {
      add_works({all.received_by(rank, read, unit), unit.vectors(combined)}, read, all, unit, steps_[i]);
    });
  }
  for (auto const& of_rank : received)
    volumes_.push_back({{std::accumulate(of_rank.begin(), of_rank.end(), std::int64_t{0}), unit.denominator},
                        {*std::ranges::max_element(of_rank), unit.denominator}});
}

counts::counts(symmetric_schedule const& s) {
  rank_t const ranks = s.ranks.order(), blocks = s.whole ? 1 : ranks;
  auto const vectors = [&](std::int64_t volume) { return static_cast<double>(volume) / blocks; };
  std::int64_t of_rank = 0;
  for (auto const& step : s.steps) {
    std::vector<value_read> reads;  // of rank 0, from the rank of the displacement
    std::int64_t combined = 0, received = 0, largest = 0;
    rank_t peers = 0;
    for (symmetric_assignment const& a : step) {
      combined += std::int64_t{a.count} - 1;
      for (symmetric_source const& from : std::span(s.sources).subspan(a.first, a.count))
        if (from.displacement != 0) reads.push_back({0, from.displacement, a.lag, from.slot});
    }
    sort(reads);
    for (std::size_t first = 0, last = 0; first < reads.size(); first = last, ++peers) {
      while (last < reads.size() && reads[last].from == reads[first].from) ++last;
      largest = std::max(largest, static_cast<std::int64_t>(last - first));
    }
    received = static_cast<std::int64_t>(reads.size());
    of_rank += received;
    steps_.push_back({{{{vectors(received), vectors(largest), 0, peers}}, vectors(combined)}});
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
// ends before what enters its group has passed the group's link, nor before whom it reads from has sent what others read.
price price_of(work const& done, cost_model const& model, double bytes) {
  price sum;
  sum.combine = model.combine_per_byte * bytes * done.combined;
  rank_t peers = 0;
  double latency = 0, shared = 0, in = 0, out = 0, messages_out = 0;
  for (std::size_t l = 0; l < model.links.size(); ++l) {
    link const& at = model.links[l];
    traffic_of_port const& read = done.received[l];
    shared = std::max(shared, at.shared * bytes * read.of_group);
    double readers = 0;
    if (!done.sent.empty() && at.fan_out > 0) {
      traffic_of_port const& sent = done.sent[l];
      readers = at.fan_out * sent.peers;
      messages_out += readers;
      out += at.fan_out * at.per_byte * bytes * sent.volume / model.ports;
      shared = std::max(shared, at.fan_out * at.shared * bytes * sent.of_group);
    }
    sum.peers += at.per_peer * std::max<double>(read.peers, readers);
    if (read.peers == 0) continue;
    peers += read.peers;
    latency = std::max(latency, at.latency);
    in += at.per_byte * bytes * std::max(read.largest, read.volume / model.ports);
  }
  sum.transfer = std::max({in, out, shared});
  sum.latency = latency * std::ceil(std::max<double>(peers, messages_out) / model.peers_per_latency);
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
