// SPDX-License-Identifier: Apache-2.0
// How results of a symmetric schedule are bracketed: whether bits are the same everywhere, and rank order is kept.
#pragma once

#include <vector>

#include "planning/schedule/groups/block_values.hpp"

namespace coset::schedule {

struct kept_by_all {
  bool same_bits, order;
};

/// Of results that hold every rank's input once, each before it was copied; with one owner for each block their bits are
/// the same. Throws no_room if it would take minutes, see validate().
kept_by_all kept_in(symmetric_schedule const&, block_values const&, std::vector<value_t> const& results);

}  // namespace coset::schedule
