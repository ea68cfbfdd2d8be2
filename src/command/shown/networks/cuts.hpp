// SPDX-License-Identifier: Apache-2.0
// What no schedule undercuts on a network: what has to cross a cut of it, over what the cut carries.
#pragma once

#include <string>
#include <vector>

#include "command/shown/networks/network.hpp"
#include "planning/schedule/model/demand.hpp"

namespace coset::schedule {

/// What the ranks inside have to send to those outside, in vectors of m, whatever the schedule. Of each element as many sums
/// have to cross as ranks outside want different sums of contributions from inside. Of P ranks, a inside and b outside:
///
///     allreduce       1
///     reduce          1 if the root is outside
///     broadcast       1 if the root is inside
///     reduce_scatter  b/P
///     allgather       a/P
///     gather          a/P if the root is outside
///     scatter         b/P if the root is inside
///     all_to_all      ab/P
///     scans           as often as the next one of a rank inside is outside
///     barrier         0
///
/// and nothing if all ranks are on one side. Verbs without a root ignore it.
fraction least_crossing(verb, rank_t root, std::vector<bool> const& inside);

/// A cut, or several that share nothing, in one direction.
struct cut {
  std::string
      name;  ///< "left -> top", its one link; "into (0,0)", all links of a place; "all hosts", whose links together …
  fraction crosses;  ///< at least, in vectors
  double latency;    ///< of one message at least
  double per_byte;   ///< until what crosses has crossed, for a byte of m

  double seconds(double bytes) const { return latency + per_byte * bytes; }
};

/// Cuts of a network between its first ranks, each of which no plan for the demand takes less time than. The first one is the
/// latency alone: a message can double the ranks that one has heard of, so that ceil(log2 P) come one after the other.
///
/// All links of ranks; of places with ranks; of what is around each place, the pieces that are left without it, so that all
/// links of a tree are cuts; and of the places up to each one. Of an allreduce 2(J − 1) vectors enter, and leave, J parts of a
/// network together: all ranks, all hosts, and the pieces around a place. That is [PY]'s Lemma 1, with parts for processes.
/// Other cuts may bind more. Cost: for each place, that of all links. Throws schedule_error for more ranks than there are.
std::vector<cut> cuts_of(network const&, rank_costs const&, demand const&);

/// The one that binds.
cut const& binding(std::vector<cut> const& cuts, double bytes);

}  // namespace coset::schedule
