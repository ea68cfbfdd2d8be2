// SPDX-License-Identifier: Apache-2.0
// The collectives by name, for plans.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {

enum class verb : std::uint8_t {
  allreduce,
  reduce,
  reduce_scatter,
  allgather,
  broadcast,
  scan,
  exclusive_scan,
  barrier,
  reduce_shared,   ///< one result, in an array that all ranks name
  allreduce_view,  ///< one result per rank, or of long ones per node, in the team's memory
  gather,
  scatter,
  all_to_all
};

namespace detail {

/// Of the vector that a verb is about what one rank gives to it, or gets of it.
enum class share : std::uint8_t { nothing, piece, whole };

/// Whose contributions are in what a rank gets. Of several they are folded, of one they are moved.
enum class contributors : std::uint8_t {
  all,
  up_to_own,
  before_own,
  owner,  ///< of the piece
  root,
  partner  ///< who has for this rank the piece that it gives
};

/// Where results are.
enum class results : std::uint8_t {
  arrays,  ///< one of each rank that gets something
  shared,  ///< one array that all ranks name
  view,    ///< the team's memory
  none     ///< ranks meet: the vector has no elements
};

/// What it means that input and output are one array.
enum class same_array : std::uint8_t {
  told,     ///< another program, and all ranks do it
  alike,    ///< the same program: a rank's input stays, or only what nobody reads any more is written
  of_root,  ///< the same; the root alone may
  never
};

/// What MPI calls it; empty where it has no such collective.
struct mpi_names {
  std::string_view of_equal_counts, of_any_counts = {};
};

/// A verb, as everything that goes through all of them knows it.
struct verb_row {
  verb what;
  std::string_view name;
  bool is_rooted;                 ///< one rank gives or gets what the others do not
  share root_gives, others_give;  ///< of a verb without a root both are the same
  share root_gets, others_get;
  contributors of;
  results in;
  same_array in_place;
  mpi_names in_mpi;
  /// What its schedules are made of, the best first; itself where it has some of its own.
  std::array<verb, 2> derived_from;
};

COSET_PER_COPY inline constexpr std::array verb_rows{// clang-format off
    verb_row{verb::allreduce, "allreduce", false, share::whole, share::whole, share::whole, share::whole,
             contributors::all, results::arrays, same_array::told, {"Allreduce"}, {verb::allreduce, verb::allreduce}},
    verb_row{verb::reduce, "reduce", true, share::whole, share::whole, share::whole, share::nothing,
             contributors::all, results::arrays, same_array::alike, {"Reduce"}, {verb::reduce, verb::reduce}},
    verb_row{verb::reduce_scatter, "reduce_scatter", false, share::whole, share::whole, share::piece, share::piece,
             contributors::all, results::arrays, same_array::alike, {"Reduce_scatter_block", "Reduce_scatter"}, {verb::reduce_scatter, verb::reduce_scatter}},
    verb_row{verb::allgather, "allgather", false, share::piece, share::piece, share::whole, share::whole,
             contributors::owner, results::arrays, same_array::alike, {"Allgather", "Allgatherv"}, {verb::allgather, verb::allgather}},
    verb_row{verb::broadcast, "broadcast", true, share::whole, share::nothing, share::whole, share::whole,
             contributors::root, results::arrays, same_array::alike, {"Bcast"}, {verb::broadcast, verb::broadcast}},
    verb_row{verb::scan, "scan", false, share::whole, share::whole, share::whole, share::whole,
             contributors::up_to_own, results::arrays, same_array::told, {"Scan"}, {verb::scan, verb::scan}},
    verb_row{verb::exclusive_scan, "exclusive_scan", false, share::whole, share::whole, share::whole, share::whole,
             contributors::before_own, results::arrays, same_array::told, {"Exscan"}, {verb::exclusive_scan, verb::exclusive_scan}},
    verb_row{verb::barrier, "barrier", false, share::whole, share::whole, share::whole, share::whole,
             contributors::all, results::none, same_array::told, {"Barrier"}, {verb::barrier, verb::barrier}},
    verb_row{verb::reduce_shared, "reduce_shared", false, share::whole, share::whole, share::whole, share::whole,
             contributors::all, results::shared, same_array::never, {""}, {verb::reduce_shared, verb::reduce_shared}},
    verb_row{verb::allreduce_view, "allreduce_view", false, share::whole, share::whole, share::whole, share::whole,
             contributors::all, results::view, same_array::never, {""}, {verb::allreduce_view, verb::allreduce_view}},
    verb_row{verb::gather, "gather", true, share::piece, share::piece, share::whole, share::nothing,
             contributors::owner, results::arrays, same_array::of_root, {"Gather", "Gatherv"}, {verb::allgather, verb::reduce}},
    verb_row{verb::scatter, "scatter", true, share::whole, share::nothing, share::piece, share::piece,
             contributors::root, results::arrays, same_array::of_root, {"Scatter", "Scatterv"}, {verb::broadcast, verb::broadcast}},
    verb_row{verb::all_to_all, "all_to_all", false, share::whole, share::whole, share::whole, share::whole,
             contributors::partner, results::arrays, same_array::told, {"Alltoall", "Alltoallv"}, {verb::reduce_scatter, verb::reduce_scatter}}};
// clang-format on
static_assert(
    [] {
      for (std::size_t at = 0; at < verb_rows.size(); ++at)
        if (static_cast<std::size_t>(verb_rows[at].what) != at) return false;
      return true;
    }(),
    "rows stand in the order of the enum");

/// A caller may have made one of any number; only of verbs there are rows.
constexpr bool is_verb(verb what) { return static_cast<std::size_t>(what) < verb_rows.size(); }
constexpr verb_row const& row_of(verb what) { return verb_rows[static_cast<std::size_t>(what)]; }
constexpr share gives(verb what, bool is_root) { return is_root ? row_of(what).root_gives : row_of(what).others_give; }
constexpr share gets(verb what, bool is_root) { return is_root ? row_of(what).root_gets : row_of(what).others_get; }

constexpr bool is_rooted(verb what) { return row_of(what).is_rooted; }
/// Only the root gives the vector, or gets it.
constexpr bool is_from_root(verb what) { return is_rooted(what) && row_of(what).others_give == share::nothing; }
constexpr bool is_to_root(verb what) { return is_rooted(what) && row_of(what).others_get == share::nothing; }
/// Every rank gives its piece of the vector, or gets it.
constexpr bool gives_pieces(verb what) { return row_of(what).root_gives == share::piece; }
constexpr bool gets_pieces(verb what) { return row_of(what).root_gets == share::piece; }
/// Each rank's vector has a piece for each rank.
constexpr bool swaps_pieces(verb what) { return row_of(what).of == contributors::partner; }
/// The vector is made of a piece for each rank.
constexpr bool is_of_pieces(verb what) { return gives_pieces(what) || gets_pieces(what) || swaps_pieces(what); }
/// Who gets all pieces.
constexpr bool gathers_for_all(verb what) { return gives_pieces(what) && !is_rooted(what); }
constexpr bool gathers_at_root(verb what) { return gives_pieces(what) && is_rooted(what); }
/// Either half of an allreduce by pieces: every rank has a piece on one side, and the whole on the other.
constexpr bool is_half(verb what) { return !is_rooted(what) && gives_pieces(what) != gets_pieces(what); }
constexpr bool is_scan(verb what) {
  return row_of(what).of == contributors::up_to_own || row_of(what).of == contributors::before_own;
}
/// A scan without the rank's own contribution.
constexpr bool is_exclusive(verb what) { return row_of(what).of == contributors::before_own; }
/// Whether a rank has no result: it is not the root, or in an exclusive scan before all others.
constexpr bool gets_nothing(verb what, bool is_root, bool is_first) {
  return gets(what, is_root) == share::nothing || (is_first && is_exclusive(what));
}
/// The root has what all others get.
constexpr bool spreads_whole(verb what) { return is_from_root(what) && !gets_pieces(what); }
/// Ranks only meet.
constexpr bool is_barrier(verb what) { return row_of(what).in == results::none; }
/// Values are moved only, not combined.
constexpr bool only_moves(verb what) { return row_of(what).of >= contributors::owner || is_barrier(what); }
/// One result of several ranks, instead of one of each.
constexpr bool shares_result(verb what) {
  return row_of(what).in == results::shared || row_of(what).in == results::view;
}
/// Every rank gets the fold of all whole vectors, in an array of its own.
constexpr bool folds_for_all(verb what) {
  auto const& row = row_of(what);
  return row.of == contributors::all && row.others_get == share::whole && row.in == results::arrays;
}
/// Algorithms are not made for it: every schedule of it is derived of one for another verb.
constexpr bool is_derived(verb what) { return row_of(what).derived_from[0] != what; }

}  // namespace detail

/// All verbs, and their names as above.
COSET_API std::span<verb const> all_verbs() noexcept;
COSET_API std::string_view name_of(verb) noexcept;
/// Throws argument_error listing the names.
COSET_API verb verb_named(std::string_view name);

}  // namespace coset
