// SPDX-License-Identifier: Apache-2.0
// The bytes that a verb cannot avoid to move. Pure arithmetic.
#pragma once

#include "command/measure/harness/contestant.hpp"

namespace coset::cli {

/// Read and written by all ranks together in a call: what is folded is read once and results are written once; what is only
/// moved is read by everybody who gets it. A cycle writes the inputs and reads the results, too.
double bytes_moved(measure::problem const&, measure::timing);

/// Of the vector, what the busiest of so many ranks, or nodes, gets from others or gives to them.
double vectors_between(verb, rank_t parties);

}  // namespace coset::cli
