// SPDX-License-Identifier: Apache-2.0
// What the processes of a team share: memory within hosts, and what is known of the network between them.
#include <limits>

#include "mpi/joint.hpp"
#include "mpi/network.hpp"
#include "planning/program/program.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

using runtime::domain;
using runtime::floating_point_mode;

/// The least staging that makes sharing memory worthwhile.
constexpr std::int64_t least_staging = 16 * 1024;

/// Which ranks share memory: those of a host, or of a process.
domain spread_over(process_map const& of, bool by_host, int self) {
  domain part;
  part.total = of.ranks;
  part.pointers = true;
  int latest_host = -1;
  for (process const& p : of.processes) {
    bool const has_memory_of_its_own = !by_host || p.host != latest_host;
    if (has_memory_of_its_own) part.spread.domains.push_back(p.first);
    part.pointers &= has_memory_of_its_own;
    part.crowded |= p.crowded;
    part.spread.processes.push_back({p.first, p.lanes});
    latest_host = p.host;
    if (p.rank != self) continue;
    part.spread.own = part.spread.domains.size() - 1;
    part.first = part.spread.domains.back();
  }
  part.spread.domains.push_back(of.ranks);
  if (part.spread.domains.size() == of.hosts.size() + 1) part.spread.switches = of.switches;
  return part;
}

/// The node of each rank's memory is unknown before its thread has used it.
runtime::node_list nodes_of(process_map const& all, int host) {
  return runtime::node_list(all.ranks_of_host(host), runtime::anywhere);
}

}  // namespace

/// Collective: per host if every host has the memory, else per process; the same everywhere. Containers often have
/// little: less than the staging wanted still serves, in shorter segments. Makes the window, where this host's processes
/// share memory.
void team::state::share_memory(process_map const& found) {
  connections& own = *connections_;
  std::vector<window_size> sizes;
  all_or_none(
      pool_->founders(), [&] { sizes = sizes_to_try(found); }, "cannot share memory");
  own.shared = {};
  own.own_cache_bytes = threads_.state().shape.memory.own_cache_bytes;
  require(MPI_Bcast(&own.own_cache_bytes, 1, MPI_UINT64_T, 0, pool_->host().get()), "MPI_Bcast");
  process const& here = found.of_process(self_);
  bool const is_alone = found.ranks_of_host(here.host) == here.threads;
  // MPICH 4.0.2 computes the minimum of unsigned numbers as if they were signed.
  std::int64_t const staging = is_alone ? std::numeric_limits<std::int64_t>::max() : open_window(sizes);
  own.staging = reduce_over_all(pool_->founders(), staging, MPI_INT64_T, MPI_MIN);
  own.survey = survey_;
}

/// The same on all processes of a host.
std::vector<team::state::window_size> team::state::sizes_to_try(process_map const& found) const {
  runtime::node_list const nodes = nodes_of(found, found.of_process(self_).host);
  std::vector<window_size> sizes;
  for (auto staging = static_cast<std::int64_t>(wanted_.staging_bytes); staging >= least_staging; staging /= 2)
    sizes.push_back({staging, runtime::arena::bytes_for(nodes, static_cast<std::size_t>(staging))});
  return sizes;
}

/// The most staging that this host has room for.
std::int64_t team::state::open_window(std::vector<window_size> const& sizes) {
  using runtime::passing;
  for (auto const& [staging, bytes] : sizes) {
    for (passing const how : {passing::by_descriptor, passing::by_path}) {
      connections_->shared = window(pool_->host(), bytes, how);
      if (!connections_->shared.empty()) return staging;
    }
  }
  return 0;
}

/// No process looks at what is zeroed here before all have agreed that each has settled.
void team::state::settle_in_memory(bool has_window) {
  connections& own = *connections_;
  if (has_window && !own.shared.empty() && pool_->host().rank() == 0)
    own.shared.renew(runtime::arena::bytes_for(nodes_of(map_, mine_.host), 0));
  part_ = spread_over(map_, own.staging != 0, mine_.rank);
  part_.most_staging = part_.pointers ? longest_message : static_cast<std::size_t>(own.staging);
  part_.passed = own.shared.passed();
  part_.own_cache_bytes = own.own_cache_bytes;
}

/// Collective. Only if there is more than one domain.
void team::state::look_at_network() {
  if (part_.spread.is_one_domain()) return;
  runtime::computing_in const alike_everywhere(floating_point_mode::usual(), detail::arithmetic::floating_point);
  auto& known = pool_->network(connections_->staging != 0);
  if (!known) known = measured_network(pool_->founders(), mine_.first == part_.first);
  part_.spread.network = known;
  messages_->fit_to(*part_.spread.network);
}

/// Only if there is more than one domain.
void team::state::set_up_offload() {
  if (wanted_.library_leaders == 0 || part_.spread.is_one_domain()) return;
  part_.spread.combiners = program::combiners_of(part_.spread, wanted_.library_leaders);
  std::vector<std::vector<int>> members;
  for (auto const& slice : part_.spread.combiners) {
    auto& processes = members.emplace_back();
    for (rank_t const r : slice) processes.push_back(map_.of_rank(r).rank);
  }
  messages_->offload_between(std::move(members));
}

}  // namespace coset::mpi
