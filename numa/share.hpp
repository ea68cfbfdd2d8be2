// SPDX-License-Identifier: Apache-2.0
// Who shares: processes that a launcher has started together on a host, ranks that outnumber its processors.
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

/// As the launcher tells by the environment: Open MPI, MPICH's Hydra, PMI or Slurm. Nothing where none of them does,
/// where what it says cannot be, for a process that is alone, and with COSET_SHARE=no.
std::optional<siblings> launched_siblings();

/// The processors of one sibling: whole cores, side by side. With more siblings than cores each has one, in turn.
std::set<unsigned> share_of(topology const& machine, siblings);

/// The machine for a team of so many ranks, 0 being as many as are best: this process's share of it, unless the ranks do
/// not fit that. A launcher that binds its processes, or whoever else has narrowed the calling thread's mask, has shared
/// out already: then it is topology::machine().
topology machine_for(rank_t ranks);

/// topology::place(), and where ranks outnumber processors each processor has several, as many as another give or take
/// one: compact ranks share with their neighbours, others in turn.
std::vector<processor> place_or_share(topology const&, rank_t ranks, placement);

}  // namespace coset::numa
