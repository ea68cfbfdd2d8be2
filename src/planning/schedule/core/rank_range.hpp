// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coset/error.hpp"

namespace coset::schedule {

/// The ranks begin … end − 1; what any verb requires is such a run.
struct rank_range {
  rank_t begin, end;
  bool empty() const { return begin == end; }
  bool contains(rank_t rank) const { return begin <= rank && rank < end; }
  friend bool operator==(rank_range const&, rank_range const&) = default;
};

}  // namespace coset::schedule
