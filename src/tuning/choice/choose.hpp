// SPDX-License-Identifier: Apache-2.0
// The choice: which schedule under which storage serves a call. A pure function, so that ranks agree without a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coset/topology.hpp"
#include "coset/verb.hpp"
#include "program/program.hpp"
#include "schedule/registry/algorithm.hpp"
#include "tuning/calibration/memory_facts.hpp"

namespace coset::tuning {

/// The verb whose schedule serves this one.
verb schedule_of(verb);

struct choice {
  schedule::algorithm algorithm;
  program::policy storage;
  std::size_t segment_bytes = 0;  ///< of the vector; 0: all at once
};

/// What a choice depends on.
struct question {
  verb what = verb::allreduce;
  rank_t ranks = 1;
  std::size_t bytes = 0;  ///< of the whole vector
  bool in_place = false;
  memory_facts memory = {};
  bool crowded = false;              ///< more ranks than processors
  std::vector<rank_t> levels = {};   ///< of caches, nodes, packages: so many consecutive ranks each; see levels_of
  std::vector<rank_t> nodes = {};    ///< ranks of each NUMA node; see nodes_of
  bool commutative = true;           ///< the operation allows schedules that do not keep the order of the ranks
  std::vector<rank_t> domains = {};  ///< ranks of each host, if there are several
  bool pointers = true;              ///< ranks of a host reach each other's arrays
};

/// What large teams fold by, whatever the size of this one: a product of full folds, innermost level first, or where nodes
/// are of different sizes a fold inside each and one between them. N nodes read (N−1)·m from each other in each of the
/// two directions of an allreduce, the least that there is.
schedule::algorithm folds_by_level(question const&);

/// Up to here a view is each rank's own: one round of flags, where one result for several ranks takes two.
inline constexpr std::size_t private_view_bytes = 1024;

/// The defaults as measured (see the README of this folder).
choice choose(question const&);
/// The same where there are several domains. Depends on nothing that could differ from host to host.
choice choose_between(question const&);
/// What can be offloaded in so many slices at most; with one leader of each domain if that is fewer than its
/// ranks.
schedule::algorithm offloaded_between(std::vector<rank_t> const& domains, std::size_t slices);

/// The levels of ranks on these processors that all have groups of one size, innermost first: each size divides the
/// next, the last one is smaller than the team. Empty where the machine tells none, or ranks are spread unevenly.
std::vector<rank_t> levels_of(std::vector<processor> const& places);

/// How many ranks each node has, if there are several nodes and the ranks of each are consecutive; else none.
std::vector<rank_t> nodes_of(std::vector<processor> const& places);

/// Factors of `ranks`, each at most `most`, as few as possible, the largest first; {ranks} where a prime factor is larger.
std::vector<rank_t> dimensions(rank_t ranks, rank_t most);

}  // namespace coset::tuning
