// SPDX-License-Identifier: Apache-2.0
// Sharing a host: processes that a launcher has started there together, and ranks that outnumber its processors.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "coset/topology.hpp"

namespace coset::numa {

/// The processes of one job on this host, and which of them this is.
struct siblings {
  unsigned own;  ///< from 0
  unsigned all;
};

/// From the launcher's environment variables: Open MPI's, those of MPICH's Hydra, PMI's or Slurm's. Empty if there are
/// none, if they are impossible, if the process is alone, and with COSET_SHARE=no.
std::optional<siblings> launched_siblings();

/// The processors of one sibling: whole cores, side by side. With more siblings than cores each has one, in turn.
std::set<unsigned> share_of(topology const& machine, siblings);

/// The machine for a team of so many ranks, 0 being the best number: this process's share of it, or topology::machine()
/// if the ranks do not fit in the share. Also topology::machine() if the calling thread's mask is narrowed, by a
/// launcher that binds its processes or by anything else: then the machine is divided already.
topology machine_for(rank_t ranks);

/// As topology::place(). If ranks outnumber processors, each processor has several ranks, the numbers differing by at
/// most one: compact ranks share with their neighbours, others in turn.
std::vector<processor> place_or_share(topology const&, rank_t ranks, placement);

}  // namespace coset::numa
