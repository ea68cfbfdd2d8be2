// SPDX-License-Identifier: Apache-2.0
// The processes that take part, their hosts, and how all their threads are numbered.
#pragma once

#include <string>
#include <vector>

#include "mpi/transport/calls.hpp"

namespace coset::inline COSET_ABI::mpi {

/// One process, as all processes know it.
struct process {
  int rank;  ///< in the communicator
  int host;  ///< counted in the order of the ranks' numbers
  rank_t threads;
  rank_t first;  ///< number of its first rank
  rank_t lanes;  ///< this many of its first ranks send and receive, for the others too
  bool crowded;  ///< its host has fewer processors for it than it has threads
};

/// All processes, in the order of their ranks' numbers: host by host.
struct process_map {
  std::vector<process> processes;
  std::vector<std::string> hosts;     ///< names; several may be called the same
  std::vector<rank_t> switches = {};  ///< how the tree groups them, see schedule::groups_along; none without a tree
  rank_t ranks = 0;

  process const& of_rank(rank_t) const;
  process const& of_process(int rank) const;
  rank_t ranks_of_host(int host) const;
};

/// What this process tells about itself.
struct own_part {
  rank_t threads;
  rank_t lanes;
  bool crowded;
  friend bool operator==(own_part const&, own_part const&) = default;
};

/// Collective. With a tree file hosts are numbered along it, so that a ring of them crosses each link once per
/// direction. If a process cannot read it or misses a host in it, that process throws its own error, the others
/// mpi::error; if they read different trees, all throw mpi::error.
process_map survey(communicator const& all, communicator const& host, own_part const&, std::string const& tree_file);

}  // namespace coset::mpi
