// SPDX-License-Identifier: Apache-2.0
#include "schedule/search/step_prices.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace coset::schedule {
namespace {

constexpr rank_t most_searched_ranks = 1024;

/// What ranks read of one block each, the different ones, when every rank x reads of x + shift.
std::vector<work> works_of(group const& ranks, rank_levels const& levels, element shift, bool combines) {
  rank_t const p = ranks.order();
  std::vector<work> all(p);
  for (rank_t r = 0; r < p; ++r) {
    std::size_t const level = levels.joining(r, ranks.add(r, shift));
    work& one = all[r];
    one = {std::vector<double>(levels.count()), std::vector<double>(levels.count()),
           std::vector<rank_t>(levels.count()), std::vector<double>(levels.count()), combines ? 1.0 : 0.0};
    one.received[level] = one.largest[level] = 1;
    one.peers[level] = 1;
  }
  for (std::size_t l = 1; l < levels.count(); ++l) {
    std::map<unsigned, double> entering;
    for (rank_t r = 0; r < p; ++r)
      for (std::size_t outer = l; outer < levels.count(); ++outer)
        entering[levels.domain(r, l - 1)] += all[r].received[outer];
    for (rank_t r = 0; r < p; ++r) all[r].entering[l] = entering[levels.domain(r, l - 1)];
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double slowest(std::vector<work> const& works, cost_model const& model, double bytes) {
  double most = 0;
  for (work const& one : works) most = std::max(most, price_of(one, model, bytes).total());
  return most;
}

/// The loads of a network's cables in each direction, in messages, and the longest way.
class traffic_on_network {
 public:
  traffic_on_network(std::vector<rank_t> const& dims, rank_t ranks)
      : dims_(dims), ranks_(ranks), changes_(2 * dims.size() * ranks) {}

  void send(rank_t from, rank_t to) {
    rank_t stride = 1, hops = 0, at = from;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      rank_t const n = dims_[d], digit = at / stride % n;
      rank_t const ahead = (to / stride % n + n - digit) % n, behind = (n - ahead) % n;
      double const load = ahead == behind ? 0.5 : 1;
      rank_t const line = at - digit * stride;
      if (ahead <= behind) cross({2 * d, n, line, stride}, digit, ahead, load);
      if (behind <= ahead) cross({2 * d + 1, n, line, stride}, (digit + 1 + n - behind) % n, behind, load);
      hops += std::min(ahead, behind);
      at = at - digit * stride + to / stride % n * stride;
      stride *= n;
    }
    longest_ = std::max(longest_, hops);
  }

  double busiest() const {
    double most = 0;
    std::vector<double> load(ranks_);
    rank_t stride = 1;
    for (std::size_t way = 0; way < 2 * dims_.size(); ++way) {
      for (rank_t at = 0; at < ranks_; ++at) {
        load[at] = changes_[way * ranks_ + at] + (at / stride % dims_[way / 2] == 0 ? 0 : load[at - stride]);
        most = std::max(most, load[at]);
      }
      if (way % 2 == 1) stride *= dims_[way / 2];
    }
    return most;
  }
  rank_t longest() const { return longest_; }

 private:
  /// The cables of a row of ranks in one direction, each at the lower one of its ends.
  struct row {
    std::size_t way;  // 2 · dimension, + 1 backwards
    rank_t length, first, stride;
  };

  /// Adds to so many cables of a row, from one on and around; noted are only the changes from each to the next.
  void cross(row const& along, rank_t from, rank_t cables, double load) {
    auto const change = [&](rank_t digit) -> double& {
      return changes_[along.way * ranks_ + along.first + digit * along.stride];
    };
    if (cables == 0) return;
    change(from) += load;
    rank_t const end = from + cables;
    if (end > along.length) change(0) += load;
    if (end != along.length) change(end % along.length) -= load;
  }

  std::vector<rank_t> const& dims_;
  rank_t ranks_;
  std::vector<double> changes_;  // [direction of a dimension][rank]
  rank_t longest_ = 0;
};

}  // namespace

void require_searchable(rank_t ranks) {
  if (ranks > most_searched_ranks)
    throw schedule_error("a search is for at most " + std::to_string(most_searched_ranks) + " ranks, not " +
                         std::to_string(ranks));
}

step_prices::step_prices(group const& ranks) : ranks_(ranks) {
  require_searchable(ranks.order());
  seconds_.resize(std::size_t{ranks.order()} * ranks.order());
}

step_prices::step_prices(group const& ranks, rank_levels const& levels, cost_model const& model, double bytes)
    : step_prices(ranks) {
  rank_t const p = ranks.order();
  for (element s = 1; s < p; ++s) {
    auto const there = works_of(ranks, levels, s, true), back = works_of(ranks, levels, ranks.negate(s), false);
    for (rank_t n = 0; n < p; ++n) {
      double const moved = bytes * n / p;
      at(s, n) = slowest(there, model, moved) + slowest(back, model, moved);
    }
  }
}

step_prices::step_prices(group const& ranks, torus_network const& on, double bytes) : step_prices(ranks) {
  rank_t const p = ranks.order();
  std::uint64_t all = 1;
  for (rank_t const n : on.dims) all = std::min<std::uint64_t>(all * n, UINT32_MAX);
  if (all != p) throw schedule_error("the network joins " + std::to_string(all) + " ranks, not " + std::to_string(p));
  for (element s = 1; s < p; ++s) {
    traffic_on_network there(on.dims, p), back(on.dims, p);
    for (rank_t r = 0; r < p; ++r) {
      there.send(ranks.add(r, s), r);
      back.send(r, ranks.add(r, s));
    }
    double const block = bytes / p;
    double const per_block = block * (on.per_byte * (there.busiest() + back.busiest()) + on.combine_per_byte);
    double const fixed = 2 * on.latency + on.per_hop * (there.longest() + back.longest());
    for (rank_t n = 0; n < p; ++n) at(s, n) = fixed + per_block * n;
  }
}

}  // namespace coset::schedule
