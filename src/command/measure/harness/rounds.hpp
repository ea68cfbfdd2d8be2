// SPDX-License-Identifier: Apache-2.0
// Contestants take turns in every round, so that changes of the machine affect all of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "command/measure/harness/contestant.hpp"
#include "command/measure/machine/latency.hpp"

namespace coset::measure {

struct round_options {
  measure::timing timing = timing::cycle;
  std::size_t rounds = 21;     ///< wanted; up to twice as many are played if the machine keeps changing
  std::size_t iterations = 0;  ///< per burst; 0: as many as take `burst_nanoseconds`
  std::size_t warmup = 0;      ///< per burst, untimed; 0: a tenth of the iterations, at least 2
  double burst_nanoseconds = 6e6;
  std::size_t least_iterations = 4;  ///< per burst, however long they take
  /// Who takes so many times as long as the best at first declines; 0: nobody does.
  double hopeless = 0;
  bool looks_at_pages = false;
  bool touches = true;   ///< each rank's arrays first; false for contestants that have their own
  std::size_t kept = 1;  ///< contestants, from the first on, whose figures are wanted however hopeless they are
};

/// One contestant in one machine state. All vectors are empty if it declined.
struct figures {
  std::vector<double> rounds;                     ///< median of each kept round, ns: what comparisons pair
  std::vector<double> samples;                    ///< all samples of all kept rounds, ns
  std::vector<std::vector<double>> by_rank = {};  ///< [kept round][rank]: the median of its samples, ns
  std::size_t iterations = 0;                     ///< timed, of all kept rounds
};

/// All rounds that the machine spent in one state.
struct state_figures {
  std::string state;        ///< nearness::kind()
  double one_way = 0;       ///< median over its rounds of the farthest pair's latency, ns; 0 for one rank
  std::vector<figures> of;  ///< [contestant]

  std::size_t rounds = 0;
};

/// Of all ranks' arrays.
struct pages_found {
  std::map<unsigned, std::size_t> by_node;  ///< as the system numbers them
  std::size_t on_own_node = 0;              ///< of the rank whose array it is
};

struct measurement {
  problem shape;
  std::vector<state_figures> states;  ///< the one with most rounds first
  std::vector<std::string> declined;  ///< [contestant]: why not, or empty
  std::vector<std::size_t> wrong;     ///< [contestant]: wrong items in all bursts, dropped rounds included
  std::size_t dropped = 0;            ///< rounds in which the state changed
  pages_found pages = {};             ///< at the end, if it was asked for
};

/// Measures one shape. Each rank's arrays come from the node of its processor among the probe's. `after_round(played)` reports
/// progress. Every burst starts with all other threads asleep.
measurement play_rounds(std::vector<contestant*> const&, latency_probe&, problem const&, round_options const&,
                        std::function<void(std::size_t)> const& after_round);

/// Nanoseconds that a collective adds to a cycle, beyond what the busiest rank does beside it in the same round: what it
/// takes itself, and what it makes dearer, as lines that others have fetched. `work` is make_own_work()'s place among the
/// contestants. [contestant]: the median of the rounds of the commonest state; 0 of who declined or disappears in the work.
std::vector<double> added_to(measurement const&, std::size_t work);

}  // namespace coset::measure
