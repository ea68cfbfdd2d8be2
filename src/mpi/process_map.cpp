// SPDX-License-Identifier: Apache-2.0
#include "mpi/process_map.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "base/text/format.hpp"
#include "coset/detail/reduction.hpp"
#include "planning/schedule/model/tree.hpp"

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
  std::uint64_t mine = 0;
  std::vector<std::uint64_t> everywhere;
  runtime::words const cannot("has no use for its tree %s", tree_file.c_str());
  all_or_none(
      all,
      [&] {
        found = own_facts_along(tree_file, names);
        mine =
            detail::hash_of(text::joined(found.positions, " ") + " in groups of " + text::joined(found.switches, " "));
        everywhere.resize(static_cast<std::size_t>(all.size()));
      },
      std::string_view(cannot).data());
  gather_from_all(all, mine, std::span(everywhere));
  auto const other = std::ranges::find_if(everywhere, [&](auto hash) { return hash != everywhere[0]; });
  if (other != everywhere.end())
    fail(runtime::words("processes 0 and %td find different trees in %s", other - everywhere.begin(),
                        tree_file.c_str()));
  return found;
}

/// Hosts in the order in which they are heard of, each with its processes.
struct hosts_heard_of {
  std::vector<std::string> names;
  std::vector<std::vector<int>> members;
};

hosts_heard_of hosts_of(std::vector<said> const& words) {
  hosts_heard_of found;
  std::vector<std::size_t> led(words.size());  // [leader]: its host
  for (std::size_t p = 0; p < words.size(); ++p) {
    auto const leader = static_cast<std::size_t>(words[p].host_leader);
    if (leader == p) {  // the lowest of its host
      led[p] = found.members.size();
      found.members.emplace_back();
      found.names.emplace_back(words[p].name.data());
    }
    found.members[led[leader]].push_back(static_cast<int>(p));
  }
  return found;
}

/// By their positions along a tree, or as they were heard of if there is none.
process_map numbered(std::vector<said> const& words, hosts_heard_of const& heard, tree_facts along) {
  std::vector<std::size_t> order(heard.names.size());
  std::iota(order.begin(), order.end(), 0);
  if (!along.positions.empty()) std::ranges::stable_sort(order, {}, [&](std::size_t h) { return along.positions[h]; });
  process_map found;
  found.switches = std::move(along.switches);
  for (std::size_t h = 0; h < order.size(); ++h) {
    found.hosts.push_back(heard.names[order[h]]);
    for (int const p : heard.members[order[h]]) {
      own_part const& of = words[static_cast<std::size_t>(p)].of;
      found.processes.push_back({p, static_cast<int>(h), of.threads, found.ranks, of.lanes, of.crowded});
      found.ranks += of.threads;
    }
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
  constexpr char const* cannot = "cannot survey the processes";
  std::vector<said> words;
  all_or_none(
      all, [&] { words.resize(static_cast<std::size_t>(all.size())); }, cannot);
  gather_from_all(all, own_words(all, host, mine), std::span(words));
  hosts_heard_of heard;
  all_or_none(
      all, [&] { heard = hosts_of(words); }, cannot);
  tree_facts along;
  if (!tree_file.empty()) along = facts_along(tree_file, heard.names, all);
  process_map found;
  all_or_none(
      all, [&] { found = numbered(words, heard, std::move(along)); }, cannot);
  return found;
}

}  // namespace coset::mpi
