// SPDX-License-Identifier: Apache-2.0
// Which group and which chain an algorithm's name and parameters stand for.
#pragma once

#include <optional>
#include <string>

#include "planning/schedule/groups/covering.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// A chain over a group.
struct folding {
  group ranks;
  chain steps;
};

/// As the algorithm's row says, with the cap that is asked for; none if it is no fold over a group.
std::optional<folding> folding_of(algorithm const&, rank_t ranks);

/// What rows say. The first has the name of a chain that needs nothing but the number of ranks, and perhaps a radix.
std::optional<folding> named_chain(algorithm const&, rank_t ranks);
std::optional<folding> chain_under_cap(algorithm const&, rank_t ranks);
std::optional<folding> dilated_under_cap(algorithm const&, rank_t ranks);
std::optional<folding> interval_tower(algorithm const&, rank_t ranks);
std::optional<folding> direct_by_dimension(algorithm const&, rank_t ranks);
std::optional<folding> ring_by_dimension(algorithm const&, rank_t ranks);
std::optional<folding> even_exchanges(algorithm const&, rank_t ranks);
std::optional<folding> own_chain(algorithm const&, rank_t ranks);

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
