// SPDX-License-Identifier: Apache-2.0
// Ways take turns, round by round, so that changes of the machine affect all of them.
#pragma once

#include <limits>

#include "bench/mpi/loops/way.hpp"

namespace coset::measure {

struct turn_options {
  std::size_t rounds = 21;
  double turn_nanoseconds = 1e7;  ///< as many cycles as take so long
  /// Who takes so many times as long as the best at first does not play on, except for the first way; 0: all do.
  double hopeless = 0;
  /// Judge a turn by the shortest sixteenth of its cycles, not by all: for machines that others use as well.
  bool shortest = false;
};

/// Of one way. All processes have the same figures.
struct way_figures {
  std::string declined;        ///< why it has not played, or empty
  std::vector<double> rounds;  ///< nanoseconds per cycle, of the process that took longest
  double shortest = std::numeric_limits<double>::infinity();  ///< of all parts of turns, in nanoseconds per cycle
  std::size_t cycles = 1;                                     ///< of the next turn, then of the last one
  std::size_t wrong = 0;                                      ///< elements and sums, of all processes
};

/// Collective. The ways are all of the cell's.
std::vector<way_figures> play_turns(hybrid_ways&, loop_cell const&, turn_options const&);

}  // namespace coset::measure
