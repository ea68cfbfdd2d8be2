// SPDX-License-Identifier: Apache-2.0
// The choice: the schedule and storage that serve a call. A pure function, so that ranks agree without communication.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coset/topology.hpp"
#include "coset/verbs/verb.hpp"
#include "planning/calibration/hidden.hpp"
#include "planning/calibration/memory_facts.hpp"
#include "planning/choice/levels.hpp"
#include "planning/program/program.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::choice {

/// The verb whose schedule serves this one.
verb schedule_of(verb);
/// gather, scatter, all_to_all: nothing is combined on the way, so that what one rank has for another goes there at once.
bool goes_straight(verb);

struct answer {
  schedule::algorithm algorithm;
  program::policy storage;
  std::size_t segment_bytes = 0;  ///< of the vector; 0: all at once
  double seconds = 0;             ///< what it is expected to take; 0: nobody has asked
};

/// What hosts pay to reach each other where nobody has measured it: some ten gigabits. `per_peer` is of each message.
inline constexpr schedule::link usual_network{UINT32_MAX, 20e-6, 1e-9, 3e-6, 0, 1};

/// Several hosts, which share no memory.
struct host_facts {
  std::vector<rank_t> ranks = {};          ///< of each; none: there is one host only
  rank_t carriers = 1;                     ///< ranks of a host that send and receive, at least
  rank_t first_carriers = 1;               ///< so many of its first ranks do, at least
  schedule::link network = usual_network;  ///< what hosts pay to reach each other
  std::vector<rank_t> switches = {};       ///< hosts of a lowest switch, such switches of the next, and so on
};

/// Lengths that nothing tells apart are one class, and get what serves the longest of them: eight classes for each doubling, none
/// of fewer than eight bytes. So a new length costs no choice, and what a team has met before makes no difference. The choice is
/// made for the end of a class; its constants are such ends.
constexpr std::size_t class_end(std::size_t bytes) {
  if (bytes > SIZE_MAX / 2) return bytes;
  std::size_t const step = std::max<std::size_t>(8, std::bit_floor(std::max<std::size_t>(bytes, 1) - 1) / 8);
  return (bytes + step - 1) / step * step;
}

/// What a choice depends on.
struct question {
  verb what = verb::allreduce;
  rank_t ranks = 1;
  std::size_t bytes = 0;  ///< of the whole vector; on one host only its class matters
  bool in_place = false;
  calibration::memory_facts memory = {};
  bool crowded = false;     ///< more ranks than processors
  bool commutative = true;  ///< the operation allows schedules that do not keep the order of the ranks
  host_facts hosts = {};
  bool pointers = true;    ///< ranks of a host reach each other's arrays
  levels_ptr levels = {};  ///< null: one level, at usual prices
  /// [place on these levels]: the rank that is there; empty: ranks are neighbours as they are numbered.
  std::vector<rank_t> order = {};
};

/// The groups of each level that all have one size, innermost first, without that of all ranks; and the nodes of different
/// sizes, which no product of dimensions fits, if there are such.
std::vector<rank_t> groups_of(question const&);
std::vector<rank_t> uneven_nodes_of(question const&);

/// The question with the levels of these ranks: in their order, or where it allows another, by level.
void put_on_levels(question&, level_facts const&);
inline void put_on_levels(question& q, std::vector<processor> const& places) {
  put_on_levels(q, level_facts_of(places));
}

/// A schedule that crosses levels as little as possible: a product of full folds, innermost level first; or if nodes
/// differ in size, a fold inside each node and one between nodes. N nodes read (N−1)·m from each other in each of the two
/// directions of an allreduce, which is the minimum.
schedule::algorithm folds_by_level(question const&);

/// An algorithm for ranks that are numbered as they lie on the levels of the question becomes that of the ranks as they are
/// numbered. One step among all is the same in any order.
void put_in_order(question const&, schedule::algorithm&);

/// The schedule that folds along clusters of consecutive ranks, from inside out: a product of dimensions, or if
/// clusters differ in size, a fold inside each of the finest clusters and one between these.
std::string folds_along(std::vector<calibration::clustering> const& levels, rank_t ranks);

/// Up to here each rank has a view of its own wherever it runs: one round of flags, while one result for several ranks takes two.
inline constexpr std::size_t private_view_bytes = 1024;

/// Longer results, too, are the ranks' own while all of them are not much memory: a line that all have read is dear to write again,
/// and who copies the result for itself reads no more than who reads it where it lies. Whatever is known of the memory, as schedules
/// may differ. Of one host, in whose ranks' reach all arrays are.
bool has_own_view(question const&);

/// The cheapest of all candidates, by the prices in the README of this folder. Products of full folds are priced by what
/// is known of their steps; other schedules are made and counted only where their bound promises a gain.
/// The schedule depends on nothing that is measured. Cost: some 20 µs up to 16 ranks on one level; where schedules
/// have to be made, as of 13 or 31 ranks, some ms.
answer choose(question const&);
/// The question by which it is served: of its class of lengths, of an allreduce where results are the ranks' own.
question as_served(question);
/// Storages of the same schedule that may serve the question better, whatever is known of the machine: all give the
/// bits of the answer. At most three; none for arrays of which a call takes less than clocks and records do.
std::vector<program::policy> alternatives(question const&, answer const&);
/// Of ranks that pass everything through staging: how much of the vector at a time, so that what they write and read there
/// stays in the caches that cores have for themselves. 0: all at once, as where ranks take turns and each meeting is a turn.
/// No difference to bits. Depends on the cache, which all ranks have to know alike.
std::size_t staged_segment(question const&, answer const&);

/// The same of one result for each process, whose ranks go on with their inputs after each segment, while these are in their
/// caches (src/reducer/processes/combine.cpp). Depends on no cache, so it may make a difference to bits.
std::size_t shared_segment(question const&);

/// An all_to_all in place goes through the team's memory even where ranks reach each other's arrays: at most so many bytes of
/// a rank at once, lest that memory be as large as the arrays. Longer segments are no faster.
inline constexpr std::size_t swapped_segment = std::size_t{4} * 1024 * 1024;
/// The choice for several domains. Depends on nothing that could differ between hosts. What is measured of the network
/// makes no difference to how values are bracketed, see cheapest_exchange().
answer choose_between(question const&);
/// The schedule that offloads in at most so many slices; with one leader in each domain if that is fewer than its
/// ranks.
schedule::algorithm offloaded_between(std::vector<rank_t> const& domains, std::size_t slices);

/// One step per dimension, all dimensions folded in full; "direct" for one dimension.
schedule::algorithm product_of(std::vector<rank_t> const& dimensions, std::size_t saved_steps);

}  // namespace coset::choice
