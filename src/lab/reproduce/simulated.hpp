// SPDX-License-Identifier: Apache-2.0
// Times that a simulator found, to stand beside the model's.
#pragma once

#include <string>
#include <vector>

#include "lab/reproduce/figure.hpp"

namespace coset::cli::reproduction {

struct simulated_time {
  std::string experiment, mapping, algorithm;
  rank_t ranks;
  std::uint64_t bytes;
  double seconds;
};

/// A CSV file whose first line names the columns experiment, ranks, mapping, algorithm, bytes and seconds, and maybe others.
/// Throws argument_error naming the line that is otherwise.
std::vector<simulated_time> read_simulated(std::string const& file);

/// Gives the points of a figure the times of its experiment: those of the name that points have there, else of their
/// algorithm, with the same mapping.
void put_beside(std::vector<simulated_time> const&, figure const&, std::vector<point>&);

}  // namespace coset::cli::reproduction
