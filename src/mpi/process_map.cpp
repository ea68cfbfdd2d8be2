// SPDX-License-Identifier: Apache-2.0
#include "mpi/process_map.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "coset/detail/reduction.hpp"
#include "schedule/model/tree.hpp"
#include "text/format.hpp"

namespace coset::inline COSET_ABI::mpi {
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

struct tree_facts {
  std::vector<std::size_t> positions;  ///< of each host in the order of the tree's machines
  std::vector<rank_t> switches;
};

/// By this process's file.
tree_facts own_facts_along(std::string const& tree_file, std::vector<std::string> const& names) {
  auto const tree = schedule::read_tree(tree_file);
  auto const machines = schedule::machines_along(tree);
  tree_facts found{{}, schedule::groups_along(tree, names)};
  for (std::string const& name : names) {
    auto const at = std::ranges::find(machines, name);
    if (at == machines.end()) {
      throw argument_error(
          text::format("host {} is not a machine of {}, which has {}", name, tree_file, text::joined(machines, ", ")));
    }
    found.positions.push_back(static_cast<std::size_t>(at - machines.begin()));
  }
  return found;
}

/// The same on all processes: each has a file of its own behind that name.
tree_facts facts_along(std::string const& tree_file, std::vector<std::string> const& names, communicator const& all) {
  tree_facts found;
  all_or_none(
      all, [&] { found = own_facts_along(tree_file, names); }, " has no use for its tree " + tree_file);
  auto const words = text::joined(found.positions, " ") + " in groups of " + text::joined(found.switches, " ");
  auto const everywhere = gather_from_all(all, detail::hash_of(words));
  auto const other = std::ranges::find_if(everywhere, [&](auto hash) { return hash != everywhere[0]; });
  if (other != everywhere.end()) {
    throw error(text::format("processes 0 and {} find different trees in {}", other - everywhere.begin(), tree_file));
  }
  return found;
}

}  // namespace

process const& process_map::of_rank(rank_t rank) const {
  auto const after = std::ranges::upper_bound(processes, rank, {}, &process::first);
  return *std::prev(after);
}

process const& process_map::of_process(int rank) const {
  auto const at = std::ranges::find(processes, rank, &process::rank);
  if (at == processes.end()) throw error(text::format("process {} is none of the {} here", rank, processes.size()));
  return *at;
}

rank_t process_map::ranks_of_host(int host) const {
  rank_t there = 0;
  for (process const& p : processes) there += p.host == host ? p.threads : 0;
  return there;
}

process_map survey(communicator const& all, communicator const& host, own_part const& mine,
                   std::string const& tree_file) {
  auto const words = gather_from_all(all, own_words(all, host, mine));
  process_map found;
  std::vector<std::vector<int>> members;       // of each host, in the order in which hosts are heard of
  std::vector<std::size_t> led(words.size());  // [leader]: its host
  for (std::size_t p = 0; p < words.size(); ++p) {
    auto const leader = static_cast<std::size_t>(words[p].host_leader);
    if (leader == p) {  // the lowest of its host
      led[p] = members.size();
      members.emplace_back();
      found.hosts.emplace_back(words[p].name.data());
    }
    members[led[leader]].push_back(static_cast<int>(p));
  }
  std::vector<std::size_t> position(members.size());
  std::iota(position.begin(), position.end(), 0);
  if (!tree_file.empty()) {
    auto along = facts_along(tree_file, found.hosts, all);
    position = std::move(along.positions);
    found.switches = std::move(along.switches);
  }
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t h) { return position[h]; });

  std::vector<std::string> const names = found.hosts;
  for (std::size_t h = 0; h < order.size(); ++h) {
    found.hosts[h] = names[order[h]];
    for (int const p : members[order[h]]) {
      own_part const& of = words[static_cast<std::size_t>(p)].of;
      found.processes.push_back({p, static_cast<int>(h), of.threads, found.ranks, of.lanes, of.crowded});
      found.ranks += of.threads;
    }
  }
  return found;
}

}  // namespace coset::mpi
