// SPDX-License-Identifier: Apache-2.0
// What ranks of other domains hold is brought by messages first; whoever folds it then reads within its own domain.

#include <algorithm>
#include <map>
#include <utility>

#include "base/text/format.hpp"
#include "planning/program/offloads.hpp"
#include "planning/schedule/parts/part_of.hpp"

namespace coset::program {

using schedule::assignment;
using schedule::block_t;
using schedule::slot_t;
using schedule::source;

std::size_t distribution::domain_of(rank_t r) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(domains, r) - domains.begin()) - 1;
}

std::size_t distribution::process_of(rank_t r) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(processes, r, {}, &process::first) - processes.begin()) - 1;
}

std::size_t distribution::stretch_of(rank_t r) const {
  if (stretches.empty()) return process_of(r);
  return static_cast<std::size_t>(std::ranges::upper_bound(stretches, r) - stretches.begin()) - 1;
}

rank_t distribution::proxy_of(rank_t r) const {
  process const& of = processes[process_of(r)];
  return of.first + of.skipped + (r - of.first) % of.carriers;
}

std::vector<rank_t> distribution::leaders(rank_t all) const {
  std::vector<rank_t> of(last(all) - first(), 0);
  for (rank_t r = 0; !processes.empty() && r < of.size(); ++r)
    of[r] = std::max(first_of_stretch(stretch_of(first() + r)), first()) - first();
  return of;
}

namespace {

class splitting {
 public:
  splitting(schedule::part const& p, distribution const& d, std::vector<std::vector<slice>> slices)
      : part_(p), of_(d), slices_(std::move(slices)), slots_(p.own.ranks * p.own.blocks.size(), 1) {
    made_.own = p.own;
    made_.own.steps.clear();
    made_.combiners = d.combiners;
    made_.own_domain = d.own;
    made_.first = p.first;
    made_.grain = p.blocks;
    made_.bound = {p.most_values, p.alike, d.processes.size() + 1 > d.domains.size()};
    made_.alone = false;
    made_.leaders = d.leaders(0);
    for (auto const& step : p.own.steps) {
      for (assignment const& a : step)
        slots_[cell(a.rank, a.block)] = std::max(slots_[cell(a.rank, a.block)], a.slot + 1);
    }
  }

  split_schedule run() && {
    for (std::size_t i = 0; i < part_.own.steps.size(); ++i) {
      if (i < slices_.size() && !slices_[i].empty())
        append(part_.own.steps[i], std::move(slices_[i]));
      else
        split(part_.own.steps[i], part_.departures[i]);
    }
    return std::move(made_);
  }

 private:
  std::size_t cell(rank_t rank, block_t block) const { return rank * part_.own.blocks.size() + block; }
  bool is_remote(source const& s) const { return s.rank == part_.own.ranks; }
  rank_t proxy_here(rank_t rank) const { return of_.proxy_of(part_.first + rank) - part_.first; }

  void split(std::vector<assignment> const& step, std::vector<schedule::departure> const& departures) {
    arriving_.clear();
    arrivals_.clear();
    std::vector<assignment> rest;
    for (assignment a : step) {
      if (!is_message(a)) {
        import_sources(a);
        rest.push_back(a);
      }
    }
    std::vector<sent_value> sent;
    for (schedule::departure const& d : departures)
      sent.push_back({proxy_here(d.from), of_.proxy_of(d.to), d.from, d.block, d.slot, d.named, d.partial});
    if (!arriving_.empty() || !sent.empty()) {
      made_.own.steps.push_back(arriving_);
      made_.has_messages.push_back(true);
      made_.sent.push_back(std::move(sent));
      made_.received.push_back(arrivals_);
      made_.slices.emplace_back();
    }
    if (!rest.empty()) append(std::move(rest), {});
  }

  void append(std::vector<assignment> step, std::vector<slice> slices) {
    made_.own.steps.push_back(std::move(step));
    made_.has_messages.push_back(false);
    made_.sent.emplace_back();
    made_.received.emplace_back();
    made_.slices.push_back(std::move(slices));
  }

  /// The first copy of a value, whose reader is its own proxy, is the message.
  bool is_message(assignment const& a) {
    source const from = part_.own.from(a).front();
    if (a.count != 1 || !is_remote(from) || proxy_here(a.rank) != a.rank) return false;
    if (!brought_.try_emplace({from.slot, a.block}, source{a.rank, a.slot}).second) return false;
    arrive(a, from.slot);
    return true;
  }

  void arrive(assignment const& a, slot_t remote) {
    schedule::remote_value const& value = part_.remote[remote];
    arriving_.push_back(a);
    arrivals_.push_back({of_.proxy_of(value.rank), value.rank, value.slot, value.partial});
  }

  void import_sources(assignment& a) {
    std::vector<source> from(part_.own.from(a).begin(), part_.own.from(a).end());
    if (std::ranges::none_of(from, [&](source const& s) { return is_remote(s); })) return;
    for (source& s : from) {
      if (!is_remote(s)) continue;
      rank_t const proxy = proxy_here(a.rank);
      auto const [at, is_new] = brought_.try_emplace({s.slot, a.block}, source{proxy, slot_t{0}});
      if (is_new) {
        at->second.slot = slots_[cell(proxy, a.block)]++;
        arrive({proxy, a.block, at->second.slot, add({&s, 1}), 1}, s.slot);
      }
      s = at->second;
    }
    a.first = add(from);
  }

  std::uint32_t add(std::span<source const> from) {
    auto const first = static_cast<std::uint32_t>(made_.own.sources.size());
    made_.own.sources.insert(made_.own.sources.end(), from.begin(), from.end());
    return first;
  }

  schedule::part const& part_;
  distribution const& of_;
  std::vector<std::vector<slice>> slices_;
  split_schedule made_;
  std::vector<slot_t> slots_;                             ///< [rank · blocks + block]: the next one that is free
  std::map<std::pair<slot_t, block_t>, source> brought_;  ///< by number among the remote values
  std::vector<assignment> arriving_;                      ///< in this step
  std::vector<received_value> arrivals_;                  ///< the same, as their senders know them
};

split_schedule without_messages(schedule::schedule const& s, distribution const& d) {
  std::size_t const steps = s.steps.size();
  split_schedule all;
  all.own = s;
  all.has_messages.assign(steps, false);
  all.sent.resize(steps);
  all.received.resize(steps);
  all.slices.resize(steps);
  all.grain = s.blocks.size();
  all.alone = d.whole();
  all.leaders = d.leaders(s.ranks);
  return all;
}

}  // namespace

split_schedule with_messages(schedule::part const& p, distribution const& d) { return splitting(p, d, {}).run(); }

split_schedule with_messages(schedule::schedule const& s, distribution const& d, bool offloads) {
  if (offloads) {
    offloaded_schedule const taken = with_offloads(s, d);
    schedule::part_options options;
    options.combined = taken.combined;
    auto const part = schedule::part_of(taken.whole, d.domains, d.own, options);
    return splitting(part, d, slices_of(taken, part, d.own)).run();
  }
  return d.is_one_domain() ? without_messages(s, d) : with_messages(schedule::part_of(s, d.domains, d.own), d);
}

std::vector<std::vector<rank_t>> combiners_of(distribution const& spread, rank_t slices) {
  std::vector<std::vector<rank_t>> by_slice(slices);
  for (std::size_t domain = 0; domain + 1 < spread.domains.size(); ++domain) {
    std::vector<rank_t> proxies;
    for (rank_t r = spread.domains[domain]; r < spread.domains[domain + 1]; ++r) {
      if (spread.proxy_of(r) == r) proxies.push_back(r);
    }
    for (rank_t s = 0; s < slices; ++s) by_slice[s].push_back(proxies[s % proxies.size()]);
  }
  return by_slice;
}

}  // namespace coset::program
