// SPDX-License-Identifier: Apache-2.0
// Messages laid along their ways, and the time that the busiest link of each takes.
#include "schedule/model/link_loads.hpp"

#include <algorithm>
#include <memory>

namespace coset::schedule {
namespace {

/// The volume and the messages on each link; emptied as it was filled, as most links are idle in most steps.
class load {
 public:
  explicit load(std::size_t links) : volume_(links), messages_(links) {}

  void add(std::vector<link_t> const& way, std::int64_t volume) {
    for (link_t const l : way) {
      if (messages_[l]++ == 0) touched_.push_back(l);
      volume_[l] += volume;
    }
  }
  void clear() {
    for (link_t const l : touched_) volume_[l] = 0, messages_[l] = 0;
    touched_.clear();
  }

  std::int64_t volume(link_t l) const { return volume_[l]; }
  std::size_t messages(link_t l) const { return messages_[l]; }
  std::vector<link_t> const& touched() const { return touched_; }

 private:
  std::vector<std::int64_t> volume_;
  std::vector<std::size_t> messages_;
  std::vector<link_t> touched_;
};

}  // namespace

link_loads::link_loads(schedule const& s, network const& on) : link_loads(s, *std::make_unique<routes>(on)) {}

link_loads::link_loads(schedule const& s, routes& ways) {
  network const& on = ways.between();
  if (on.ranks() < s.ranks)
    throw schedule_error("the network has " + std::to_string(on.ranks()) + " ranks, the schedule " +
                         std::to_string(s.ranks));
  units const unit(s);
  auto const messages_in = [&](std::size_t i) { return coset::schedule::messages_in(s, i, unit); };
  *this = link_loads(s.steps.size(), unit.denominator, messages_in, ways);
}

link_loads::link_loads(std::size_t steps, std::int64_t parts_of_a_vector,
                       std::function<step_messages(std::size_t step)> const& messages_in, routes& ways)
    : steps_(steps) {
  auto const vectors = [&](std::int64_t volume) {
    return static_cast<double>(volume) / static_cast<double>(parts_of_a_vector);
  };
  network const& on = ways.between();
  load all(on.links().size()), own(on.links().size());
  std::vector<std::int64_t> in_all_steps(on.links().size());
  std::vector<std::vector<link_t>> way;  // of each message of a step
  for (std::size_t i = 0; i < steps; ++i) {
    auto const step = messages_in(i);
    auto const& messages = step.messages;
    way.assign(messages.size(), {});
    std::vector<rank_t> sent(on.ranks());
    all.clear();
    for (std::size_t m = 0; m < messages.size(); ++m) {
      ways.append(messages[m].from, messages[m].to, way[m]);
      all.add(way[m], messages[m].volume);
      ++sent[messages[m].from];
    }
    for (link_t const l : all.touched()) {
      in_all_steps[l] += all.volume(l);
      busiest_.most_messages = std::max(busiest_.most_messages, all.messages(l));
    }
    std::size_t first = 0;
    step.for_each_rank([&](rank_t, std::int64_t combined, auto read) {
      own.clear();
      for (std::size_t m = 0; m < read.size(); ++m) own.add(way[first + m], read[m].volume);
      if (read.empty()) steps_[i].push_back({0, 0, 0, 0, vectors(combined)});
      for (std::size_t m = 0; m < read.size(); ++m) {
        part got{std::max(static_cast<rank_t>(read.size()), sent[read[m].from]), 0, 0, 0, vectors(combined)};
        for (link_t const l : way[first + m]) {
          link_costs const& costs = on.links()[l].costs;
          got.latency += costs.latency;
          got.shared = std::max(got.shared, costs.per_byte * vectors(all.volume(l)));
          got.alone = std::max(got.alone, costs.per_byte * vectors(own.volume(l)));
        }
        if (steps_[i].empty() || steps_[i].back() != got) steps_[i].push_back(got);
      }
      first += read.size();
    });
    std::sort(steps_[i].begin(), steps_[i].end());
    steps_[i].erase(std::unique(steps_[i].begin(), steps_[i].end()), steps_[i].end());
  }
  double longest = 0;
  for (std::size_t l = 0; l < in_all_steps.size(); ++l) {
    shared_link const& link = on.links()[l];
    double const busy = link.costs.per_byte * vectors(in_all_steps[l]);
    if (busy <= longest) continue;
    longest = busy;
    busiest_.name = link.name;
    busiest_.volume = fraction(in_all_steps[l], parts_of_a_vector);
  }
}

price link_loads::price_with(double part::*transfer, rank_costs const& costs, double bytes) const {
  price total;
  for (auto const& parts : steps_) {
    price slowest;
    for (part const& got : parts) {
      price const one{costs.per_message * got.messages + got.latency, 0, bytes * got.*transfer,
                      costs.combine_per_byte * bytes * got.combined};
      if (one.total() > slowest.total()) slowest = one;
    }
    total += slowest;
  }
  return total;
}

price link_loads::priced(rank_costs const& costs, double bytes) const {
  return price_with(&part::shared, costs, bytes);
}

price link_loads::priced_alone(rank_costs const& costs, double bytes) const {
  return price_with(&part::alone, costs, bytes);
}

}  // namespace coset::schedule
