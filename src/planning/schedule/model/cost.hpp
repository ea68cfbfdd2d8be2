// SPDX-License-Identifier: Apache-2.0
// Predicted times and traffic: exact counts of a schedule under a linear model of the machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planning/schedule/core/events.hpp"
#include "planning/schedule/model/alike_steps.hpp"
#include "planning/schedule/model/machine.hpp"

namespace coset::schedule {

/// Seconds, by what they are spent on.
struct price {
  double latency = 0;   ///< rounds
  double peers = 0;     ///< every rank read from, and streams beyond
  double transfer = 0;  ///< until the busiest port or link has carried what crosses it
  double combine = 0;

  double total() const { return latency + peers + transfer + combine; }
  price& operator+=(price const&);
  friend auto operator<=>(price const&, price const&) = default;
};

/// The reads from other ranks that one level joins, in all steps, in vectors of m. A rank's reads from itself are free;
/// a value that a rank reads twice in one step counts once, as validate() counts.
struct traffic {
  fraction total;    ///< over all ranks
  fraction largest;  ///< of one rank
};

/// The link that is busy longest.
struct busiest_link {
  std::string name = "none";
  fraction volume = 0;            ///< in all steps, in vectors
  std::size_t most_messages = 0;  ///< of any link in one step; a message is all that one rank reads from another
};

/// Whether messages wait for those of other ranks on the links that they share. If not, what is missing is contention.
enum class sharing : char { links, nothing };

/// What a schedule takes on a machine. All messages of a step are under way at once, and those that share a link share its
/// bandwidth: one arrives when the busiest link of its way has carried all that crosses it in that step, after the latency
/// of its way. Where latencies are equal no other sharing ends a step sooner. A rank's step ends with its last message, a
/// step with its slowest rank.
class counts {
 public:
  counts() = default;
  /// Wants a schedule that validate() has passed, of no more ranks than the machine has, else throws schedule_error.
  /// Cost: about that of validate(), and of every message the length of its way.
  counts(schedule const&, machine const&, sharing = sharing::links);
  /// On the levels of a model, groups of consecutive ranks; the last one is taken as all ranks.
  counts(schedule const&, cost_model const&);
  /// Of what all ranks do alike, on levels: of one of them where these look the same to all. Nothing proves a schedule.
  counts(alike_steps const&, level_machine const&);
  /// Of messages that are known without the schedule: those of each step, when they are asked for.
  counts(std::size_t steps, std::int64_t parts_of_a_vector,
         std::function<step_messages(std::size_t step)> const& messages_in, machine const&, sharing = sharing::links);

  /// For a vector of `bytes`.
  price priced(double bytes) const;
  double seconds(double bytes) const { return priced(bytes).total(); }
  /// The same by each part alone: rounds of the rank that has most of them, messages of that with most, and so on.
  price most(double bytes) const;

  /// [level], of levels; all in one of a network. Of a schedule that was written out.
  std::vector<traffic> const& volumes() const { return volumes_; }
  busiest_link const& busiest() const { return busiest_; }

 private:
  /// [step]: the different parts of ranks in it, a message and its reader each. Transfer and combine for each byte.
  std::vector<std::vector<price>> steps_;
  std::vector<traffic> volumes_;
  busiest_link busiest_;
};

/// The number of steps to save that [KZ] (37) estimates for radix 2, with its logarithm rounded up and the result
/// rounded and clamped to [0, ceil(log2 P)]. Uses the outermost link. selector.hpp has the argmin over exact counts.
std::uint32_t saved_steps(cost_model const&, rank_t ranks, double bytes);

}  // namespace coset::schedule
