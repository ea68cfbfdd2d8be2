// SPDX-License-Identifier: Apache-2.0
// Which group and which chain an algorithm's name and parameters stand for.
#pragma once

#include <optional>
#include <string>

#include "schedule/groups/covering.hpp"
#include "schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// A chain over a group.
struct folding {
  group ranks;
  chain steps;
};

/// Of a completed algorithm; none if it is no fold over a group, or not for this many ranks.
/// Throws schedule_error for parameters that make none.
std::optional<folding> folding_of(algorithm const&, rank_t ranks);

/// Of a completed algorithm: throws schedule_error if its group or its shifts cannot be read, whatever the number of ranks.
void require_readable_chain(algorithm const&);

/// "cyclic", "binary", "dihedral", or factors, fastest first, that make up the number of ranks: "4x3"; d10 is dihedral of
/// order 10, 3.7.2 is Z_7, multiplied by powers of 2 by Z_3, which is the fastest. Throws schedule_error.
group group_of(std::string const& text, rank_t ranks);

/// One chain per factor, one after the other, digit 0 first.
template <typename PerFactor>
chain lifted(std::vector<rank_t> const& factors, rank_t ranks, PerFactor const& per_factor) {
  chain result;
  rank_t stride = 1;
  for (rank_t const n : factors) {
    append_lifted(result, per_factor(n), n, stride, ranks / stride / n);
    stride *= n;
  }
  return result;
}

}  // namespace coset::schedule
