// SPDX-License-Identifier: Apache-2.0
// Predicted times and traffic: exact counts of a schedule under a linear model of the machine.
#pragma once

#include <vector>

#include "schedule/core/schedule.hpp"
#include "schedule/groups/symmetric.hpp"
#include "schedule/model/rank_levels.hpp"

namespace coset::schedule {

/// What ranks of one group of a level pay to reach each other. Seconds, and seconds per byte.
struct link {
  rank_t group;         ///< ranks r and s are joined by the first level with r / group == s / group, unless
                        ///< rank_levels say which level joins whom
  double latency;       ///< alpha, per round of a step
  double per_byte;      ///< beta
  double per_peer = 0;  ///< lambda, per rank read from
  double shared = 0;    ///< per byte, all together, that ranks of one group of the level below read over this level or
                        ///< over one further out: the group's own link; none on the innermost level
  double fan_out = 0;   ///< what a byte costs whom it is read from, as a part of what it costs the reader: 1 for
                        ///< messages, each of which is sent; 0 where all fetch a line by themselves
};

/// alpha-beta-gamma, with levels and ports.
struct cost_model {
  std::vector<link> links;       ///< innermost first; the last one joins all pairs that no earlier one joins
  double combine_per_byte = 0;   ///< gamma
  rank_t ports = 1;              ///< peers whose volumes travel at once, each at full speed
  rank_t peers_per_latency = 1;  ///< peers that one latency covers: `ports` of a network, all of them in shared memory
  rank_t streams = 16;           ///< a rank may read from so many peers at once …
  double per_stream_beyond = 0;  ///< … and pays this for every further one

  /// One level, one port.
  static cost_model flat(double latency, double per_byte, double combine_per_byte);
  /// The parameters of [KZ] Table 2.
  static cost_model ten_gigabit() { return flat(3e-5, 1e-8, 2e-10); }
};

/// The group sizes of the links, in their order.
std::vector<rank_t> groups_of(cost_model const&);

/// What passes a rank's port in one direction in one step, over the links of one level. Volumes in vectors of m.
struct traffic_of_port {
  double volume = 0;
  double largest = 0;   ///< with the one peer that gives most
  double of_group = 0;  ///< over the link of its group of the level below, with all other ranks of the group
  rank_t peers = 0;
  friend auto operator<=>(traffic_of_port const&, traffic_of_port const&) = default;
};
using port = std::vector<traffic_of_port>;  ///< by level

/// What one rank does in one step, and with it one of those that it reads from.
struct work {
  port received;
  double combined = 0;
  port sent = {};  ///< by that peer, to whomever; empty: no more than this rank reads
  friend auto operator<=>(work const&, work const&) = default;
};

/// Seconds, by what they are spent on.
struct price {
  double latency = 0;   ///< rounds
  double peers = 0;     ///< every rank read from, and streams beyond
  double transfer = 0;  ///< bytes read, or sent, or what passes a group's link
  double combine = 0;

  double total() const { return latency + peers + transfer + combine; }
  price& operator+=(price const&);
};

/// One rank's part of a step of a vector of `bytes`: as long as the busiest port takes, its own, that of whom it reads from,
/// or a group's link.
price price_of(work const&, cost_model const&, double bytes);
/// [step][rank and peer, or kinds of them]: a step lasts as long as its slowest rank.
price price_of(std::vector<std::vector<work>> const& steps, cost_model const&, double bytes);

/// The reads from other ranks that one level joins, in all steps, in vectors of m. A rank's reads from itself are free;
/// a value that a rank reads twice in one step counts once, as validate() counts.
struct traffic {
  fraction total;    ///< over all ranks
  fraction largest;  ///< of one rank
};

/// The counts of a schedule that determine its time: step by step, the different works of its ranks and their peers.
/// A symmetric schedule on one level has one work per step.
class counts {
 public:
  /// Wants a schedule that validate() has passed, and the levels of as many ranks. Cost: about that of validate().
  counts(schedule const&, rank_levels const&);
  /// With the groups of a model, consecutive ranks; the last one is taken as all ranks.
  counts(schedule const&, cost_model const&);
  /// The same on one level, where all ranks do the same: of one of them, so that no number of ranks is too large. Nothing
  /// proves the schedule. Cost: O(P · steps) at most.
  explicit counts(symmetric_schedule const&);

  /// For a vector of `bytes`. Wants a model with the same levels.
  price priced(cost_model const& model, double bytes) const { return price_of(steps_, model, bytes); }
  double seconds(cost_model const& model, double bytes) const { return priced(model, bytes).total(); }

  /// [step]: the different works of its ranks.
  std::vector<std::vector<work>> const& steps() const { return steps_; }

  /// [level]
  std::vector<traffic> const& volumes() const { return volumes_; }

 private:
  std::vector<std::vector<work>> steps_;
  std::vector<traffic> volumes_;
};

/// The number of steps to save that [KZ] (37) estimates for radix 2, with its logarithm rounded up and the result
/// rounded and clamped to [0, ceil(log2 P)]. Uses the outermost link. selector.hpp has the argmin over exact counts.
std::uint32_t saved_steps(cost_model const&, rank_t ranks, double bytes);

}  // namespace coset::schedule
