// SPDX-License-Identifier: Apache-2.0
#include "mpi/process_map.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "coset/detail/reduction.hpp"
#include "schedule/model/tree.hpp"
#include "text/format.hpp"

namespace coset::mpi {
namespace {

struct said {
  own_part of;
  int host_leader;  ///< the lowest rank on its host
  std::array<char, MPI_MAX_PROCESSOR_NAME> name;
};

said own_words(communicator const& all, communicator const& host, own_part const& mine) {
  said words{mine, all.rank(), {}};
  require(MPI_Bcast(&words.host_leader, 1, MPI_INT, 0, host.get()), "MPI_Bcast");
  int length = 0;
  require(MPI_Get_processor_name(words.name.data(), &length), "MPI_Get_processor_name");
  return words;
}

/// The position of each host in the order of the tree's machines, by this process's file.
std::vector<std::size_t> own_positions_along(std::string const& tree_file, std::vector<std::string> const& names) {
  auto const machines = schedule::machines_along(schedule::read_tree(tree_file));
  std::vector<std::size_t> positions;
  for (std::string const& name : names) {
    auto const at = std::ranges::find(machines, name);
    if (at == machines.end()) {
      throw argument_error(
          text::format("host {} is not a machine of {}, which has {}", name, tree_file, text::joined(machines, ", ")));
    }
    positions.push_back(static_cast<std::size_t>(at - machines.begin()));
  }
  return positions;
}

/// The same on all processes: each has a file of its own behind that name.
std::vector<std::size_t> positions_along(std::string const& tree_file, std::vector<std::string> const& names,
                                         communicator const& all) {
  std::vector<std::size_t> positions;
  all_or_none(
      all, [&] { positions = own_positions_along(tree_file, names); }, " has no use for its tree " + tree_file);
  auto const everywhere = gather_from_all(all, detail::hash_of(text::joined(positions, " ")));
  auto const other = std::ranges::find_if(everywhere, [&](auto hash) { return hash != everywhere[0]; });
  if (other != everywhere.end()) {
    throw error(text::format("processes 0 and {} find different trees in {}", other - everywhere.begin(), tree_file));
  }
  return positions;
}

}  // namespace

process const& process_map::of_rank(rank_t rank) const {
  auto const after = std::ranges::upper_bound(processes, rank, {}, &process::first);
  return *std::prev(after);
}

process const& process_map::of_process(int rank) const { return *std::ranges::find(processes, rank, &process::rank); }

rank_t process_map::first_of_host(int host) const { return std::ranges::find(processes, host, &process::host)->first; }

rank_t process_map::ranks_of_host(int host) const {
  rank_t there = 0;
  for (process const& p : processes) there += p.host == host ? p.threads : 0;
  return there;
}

process_map survey(communicator const& all, communicator const& host, own_part const& mine,
                   std::string const& tree_file) {
  auto const words = gather_from_all(all, own_words(all, host, mine));
  std::vector<int> leaders;
  process_map found;
  for (said const& w : words) {
    if (std::ranges::find(leaders, w.host_leader) != leaders.end()) continue;
    leaders.push_back(w.host_leader);
    found.hosts.emplace_back(w.name.data());
  }
  std::vector<std::size_t> position(leaders.size());
  std::iota(position.begin(), position.end(), 0);
  if (!tree_file.empty()) position = positions_along(tree_file, found.hosts, all);
  std::vector<std::size_t> order(leaders.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t h) { return position[h]; });

  std::vector<std::string> const names = found.hosts;
  for (std::size_t h = 0; h < order.size(); ++h) {
    found.hosts[h] = names[order[h]];
    for (std::size_t p = 0; p < words.size(); ++p) {
      if (words[p].host_leader != leaders[order[h]]) continue;
      own_part const& of = words[p].of;
      found.processes.push_back(
          {static_cast<int>(p), static_cast<int>(h), of.threads, found.ranks, of.lanes, of.crowded});
      found.ranks += of.threads;
    }
  }
  return found;
}

}  // namespace coset::mpi
