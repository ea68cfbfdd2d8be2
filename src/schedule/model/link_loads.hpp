// SPDX-License-Identifier: Apache-2.0
// Predicted times of a schedule on a network of shared links: what crosses each link, step by step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schedule/core/events.hpp"
#include "schedule/model/cost.hpp"
#include "schedule/model/network.hpp"

namespace coset::schedule {

/// What ranks pay apart from links: seconds for each message that a rank gets in a step, or that whom it is from sends, if
/// those are more; and per byte that it combines.
struct rank_costs {
  double per_message = 0, combine_per_byte = 0;
};

/// The link that is busy longest.
struct busiest_link {
  std::string name = "none";
  fraction volume = 0;            ///< in all steps, in vectors
  std::size_t most_messages = 0;  ///< of any link in one step; a message is all that one rank reads from another
};

/// A schedule's messages on the links of a network. All messages of a step are on their way at once, and those that share
/// a link share its bandwidth: a message arrives when the busiest link of its way has carried all that crosses it in that
/// step, after the latencies of its whole way. Where latencies are equal no sharing ends a step sooner, and one does as soon:
/// that in proportion to the messages' lengths. A rank's step ends with its last message, a step with its slowest rank.
class link_loads {
 public:
  /// Wants a schedule that validate() has passed. Its ranks are the first ones of the network.
  /// Throws schedule_error if there are fewer, or no way between two of them.
  /// Cost: that of validate(), and of every message the length of its way.
  link_loads(schedule const&, network const&);
  /// The same with ways that several schedules share.
  link_loads(schedule const&, routes&);
  /// The same of messages that are known without the schedule: those of each step, when they are asked for.
  link_loads(std::size_t steps, std::int64_t parts_of_a_vector,
             std::function<step_messages(std::size_t step)> const& messages_in, routes&);

  /// For a vector of `bytes`.
  price priced(rank_costs const&, double bytes) const;
  /// The same if no message had to share a link with those of other ranks: what is missing is contention.
  price priced_alone(rank_costs const&, double bytes) const;

  busiest_link const& busiest() const { return busiest_; }

 private:
  /// One message, and what its reader gets in the same step; no message where that only combines values of its own.
  struct part {
    rank_t messages;       // of the reader, or of the sender if it has more
    double latency;        // of the message's way
    double shared, alone;  // of its way's busiest link, seconds for a byte of the vector
    double combined;       // by the reader, in vectors
    friend auto operator<=>(part const&, part const&) = default;
  };

  price price_with(double part::*transfer, rank_costs const&, double bytes) const;

  std::vector<std::vector<part>> steps_;  // the different ones
  busiest_link busiest_;
};

}  // namespace coset::schedule
