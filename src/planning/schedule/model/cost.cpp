// SPDX-License-Identifier: Apache-2.0
// Laying messages along their ways, and the time that the busiest link of each takes.
#include "planning/schedule/model/cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

namespace coset::schedule {
namespace {

/// Of one message and its reader. Seconds, of the last two for a byte of the vector.
using parts_of_step = std::vector<price>;

/// Steps of messages on the links of a machine.
class counter {
 public:
  counter(machine const& on, std::int64_t parts_of_a_vector, sharing how = sharing::links)
      : counter(on, parts_of_a_vector, how, on.links(), on.ranks()) {}
  /// Of rank 0, which stands for all.
  counter(level_machine const& on, std::int64_t parts_of_a_vector)
      : counter(on, parts_of_a_vector, sharing::links, static_cast<link_t>(2 * on.levels()), 1) {}

  parts_of_step count(step_messages const& step) {
    begin();
    for (step_messages::message const& m : step.messages) {
      find(m.to, m.from, m.volume);
      sent_[m.from].add(found_);
      for (way::use const& u : found_.uses) occupy(u, m.volume);
      laid_.back().giver = m.from;
      received_[found_.level * sent_.size() + m.to] += m.volume;
    }
    parts_of_step made;
    std::size_t first = 0;
    step.for_each_rank([&](rank_t, std::int64_t combined, auto read) {
      add_parts(std::span(laid_).subspan(first, read.size()), combined, made);
      first += read.size();
    });
    std::ranges::sort(made);
    made.erase(std::unique(made.begin(), made.end()), made.end());
    return made;
  }

  /// Where all ranks do the same, links of a kind are as busy, and each of those that rank 0 reads from is read by as many.
  parts_of_step count_alike(alike_step const& step, level_machine const& levels) {
    begin();
    for (auto const& [from, volume] : step.reads) {
      find(0, from, volume);
      sent_.front().add(found_);
      for (std::size_t u = 0; u < found_.uses.size(); ++u) {
        auto const kind = levels.kind_of(found_.uses[u].link);
        uses_[laid_.back().first + u].link = kind.number;
        occupy({kind.number, found_.uses[u].per_byte}, volume * kind.ranks);
      }
    }
    parts_of_step made;
    add_parts(laid_, step.combined, made);
    return made;
  }

  std::vector<traffic> volumes(std::int64_t parts_of_a_vector) const {
    std::vector<traffic> made;
    for (std::size_t level = 0; level < on_.levels(); ++level) {
      auto const of_ranks = std::span(received_).subspan(level * sent_.size(), sent_.size());
      std::int64_t total = 0;
      for (std::int64_t const volume : of_ranks) total += volume;
      made.push_back({{total, parts_of_a_vector}, {std::ranges::max(of_ranks), parts_of_a_vector}});
    }
    return made;
  }

  busiest_link busiest(std::int64_t parts_of_a_vector) const {
    busiest_link found{.most_messages = most_messages_};
    auto const longest = std::ranges::max_element(links_, {}, &load::in_all);
    if (longest == links_.end() || longest->in_all <= 0) return found;
    found.name = on_.name_of(static_cast<link_t>(longest - links_.begin()));
    found.volume = fraction(longest->volume, parts_of_a_vector);
    return found;
  }

 private:
  counter(machine const& on, std::int64_t parts_of_a_vector, sharing how, link_t links, rank_t ranks)
      : on_(on),
        costs_(on.costs()),
        how_(how),
        part_(1 / static_cast<double>(parts_of_a_vector)),
        links_(links),
        received_(on.levels() * ranks),
        sent_(ranks) {}

  /// Seconds for a byte of the vector.
  struct load {
    double in_step = 0, in_all = 0;
    std::int64_t volume = 0;   // in all steps
    std::size_t messages = 0;  // in the step
  };
  /// What a rank gives in a step, as far as that costs it.
  struct given {
    double messages = 0, seconds = 0;

    void add(way const& w) {
      messages += w.fan_out;
      seconds += w.fan_out * w.per_message;
    }
  };
  /// A message on its way, whose links are some of uses_.
  struct laid {
    rank_t giver;
    double latency, per_message, alone;
    std::size_t first, last;
  };

  /// What the last step left is emptied as it was filled, as most links are idle in most steps.
  void begin() {
    for (way::use const& u : uses_) links_[u.link].in_step = 0, links_[u.link].messages = 0;
    uses_.clear();
    laid_.clear();
    std::ranges::fill(sent_, given{});
  }

  void find(rank_t to, rank_t from, std::int64_t volume) {
    on_.find(to, from, found_);
    std::size_t const first = uses_.size();
    uses_.insert(uses_.end(), found_.uses.begin(), found_.uses.end());
    laid_.push_back({0, found_.latency, found_.per_message, found_.per_byte * in_vectors(volume), first, uses_.size()});
    for (std::size_t u = first; u < uses_.size(); ++u) uses_[u].per_byte *= in_vectors(volume);
  }

  double in_vectors(std::int64_t volume) const { return part_ * static_cast<double>(volume); }

  void occupy(way::use const& u, std::int64_t volume) {
    load& on = links_[u.link];
    double const seconds = u.per_byte * in_vectors(volume);
    on.in_step += seconds;
    on.in_all += seconds;
    on.volume += volume;
    most_messages_ = std::max(most_messages_, ++on.messages);
  }

  std::span<way::use const> uses_of(std::span<laid const> read) const {
    return std::span(uses_).subspan(read.front().first, read.back().last - read.front().first);
  }

  /// Where links are not shared, all that crosses one is the reader's own.
  void leave_alone(std::span<laid const> read) {
    if (how_ == sharing::links || read.empty()) return;
    for (way::use const& u : uses_of(read)) links_[u.link].in_step = 0;
    for (way::use const& u : uses_of(read)) links_[u.link].in_step += u.per_byte;
  }

  void add_parts(std::span<laid const> read, std::int64_t combined, parts_of_step& to) {
    leave_alone(read);
    price part{.combine = costs_.combine_per_byte * in_vectors(combined)};
    if (read.empty()) to.push_back(part);
    double seconds = 0;
    for (laid const& m : read) seconds += m.per_message;
    auto const peers = static_cast<double>(read.size());
    double const beyond = costs_.per_stream_beyond * std::max(0.0, peers - costs_.streams);
    for (laid const& m : read) {
      given const& by_peer = sent_[m.giver];
      part.latency = m.latency * std::ceil(std::max(peers, by_peer.messages) / costs_.peers_per_latency);
      part.peers = std::max(seconds, by_peer.seconds) + beyond;
      part.transfer = m.alone;
      for (std::size_t u = m.first; u < m.last; ++u)
        part.transfer = std::max(part.transfer, links_[uses_[u].link].in_step);
      if (to.empty() || to.back() != part) to.push_back(part);
    }
  }

  machine const& on_;
  cost_model const& costs_;
  sharing const how_;
  double const part_;  // of a vector
  std::vector<load> links_;
  std::vector<std::int64_t> received_;  // [level][rank]
  std::vector<given> sent_;             // [rank]
  way found_;
  std::vector<laid> laid_;      // a step's messages, by reader
  std::vector<way::use> uses_;  // of these; seconds of the message
  std::size_t most_messages_ = 0;
};

/// Whether rank 0 sees what all ranks see: groups of each level are of one size, and are moved as a whole by what turns one
/// rank into another.
bool looks_alike(alike_steps const& of, rank_levels const& levels) {
  for (std::size_t l = 0; l < levels.count(); ++l) {
    rank_t const group = levels.even_group(l);
    if (group == 0) return false;
    rank_t weight = 1;
    bool is_border = group == 1, nests = true;
    for (rank_t const size : of.ranks.factors()) {
      weight *= size;
      is_border = is_border || weight == group;
      nests = nests && (weight % group == 0 || group % weight == 0);
    }
    if (of.by_whole_digits ? !nests : !is_border) return false;
  }
  return true;
}

step_messages messages_of(alike_step const& step, group const& ranks) {
  using message = step_messages::message;
  step_messages made;
  for (rank_t rank = 0; rank < ranks.order(); ++rank) {
    if (rank % step.period >= step.run) continue;
    for (auto const& [displacement, volume] : step.reads) {
      rank_t const peer = ranks.add(rank, displacement);
      made.messages.push_back(step.gives ? message{peer, rank, volume} : message{rank, peer, volume});
    }
  }
  if (step.gives) std::ranges::stable_sort(made.messages, {}, &message::to);
  for (message const& m : made.messages) made.combined.emplace_hint(made.combined.end(), m.to, step.combined);
  return made;
}

}  // namespace

counts::counts(schedule const& s, cost_model const& model) : counts(s, level_machine(s.ranks, model)) {}

counts::counts(schedule const& s, machine const& on, sharing how) {
  if (on.ranks() < s.ranks)
    throw schedule_error("the machine has " + std::to_string(on.ranks()) + " ranks, the schedule " +
                         std::to_string(s.ranks));
  units const unit(s);
  *this = counts(
      s.steps.size(), unit.denominator, [&](std::size_t i) { return messages_in(s, i, unit); }, on, how);
}

counts::counts(std::size_t steps, std::int64_t parts_of_a_vector,
               std::function<step_messages(std::size_t step)> const& messages_in, machine const& on, sharing how) {
  counter all(on, parts_of_a_vector, how);
  for (std::size_t i = 0; i < steps; ++i) steps_.push_back(all.count(messages_in(i)));
  volumes_ = all.volumes(parts_of_a_vector);
  busiest_ = all.busiest(parts_of_a_vector);
}

counts::counts(alike_steps const& of, level_machine const& on) {
  if (on.ranks() != of.ranks.order())
    throw schedule_error("the machine has " + std::to_string(on.ranks()) + " ranks, the schedule " +
                         std::to_string(of.ranks.order()));
  bool const by_one = looks_alike(of, on.domains());
  std::optional<counter> one, all;
  steps_.reserve(of.steps.size());
  if (by_one) one.emplace(on, of.parts);
  for (alike_step const& step : of.steps) {
    if (by_one && step.is_of_all()) {
      steps_.push_back(one->count_alike(step, on));
      continue;
    }
    if (!all) all.emplace(on, of.parts, sharing::links);
    steps_.push_back(all->count(messages_of(step, of.ranks)));
  }
}

price& price::operator+=(price const& more) {
  latency += more.latency;
  peers += more.peers;
  transfer += more.transfer;
  combine += more.combine;
  return *this;
}

price counts::priced(double bytes) const {
  price total;
  for (parts_of_step const& parts : steps_) {
    price slowest;
    for (price one : parts) {
      one.transfer *= bytes;
      one.combine *= bytes;
      if (one.total() > slowest.total()) slowest = one;
    }
    total += slowest;
  }
  return total;
}

price counts::most(double bytes) const {
  price total;
  for (parts_of_step const& parts : steps_) {
    price most;
    for (price const& one : parts)
      most = {std::max(most.latency, one.latency), std::max(most.peers, one.peers),
              std::max(most.transfer, one.transfer * bytes), std::max(most.combine, one.combine * bytes)};
    total += most;
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
