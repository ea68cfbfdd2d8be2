// SPDX-License-Identifier: Apache-2.0
// What every verb is by definition: what a rank gives, what it must get, and what it keeps. Tests of elements, of schedules
// and of programs judge by it. It does not ask the rows of verb.hpp, which the library is made of, or they would judge
// themselves; a test of examples has it written out (tests/team/calls/examples_test.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "coset/error.hpp"
#include "coset/verbs/verb.hpp"

namespace coset::team_test {

/// One collective call, the same on every rank.
struct task {
  verb what = verb::allreduce;
  std::vector<std::size_t> counts = {};  ///< of the ranks' pieces; their sum is the whole
  bool even = false;                     ///< call the form without counts
  rank_t root = 0;
  bool in_place = false;
  std::uint64_t seed = 0;

  /// A barrier is about no elements, whatever the counts.
  std::size_t total() const { return what == verb::barrier ? 0 : begin(ranks()); }
  std::size_t begin(rank_t r) const {
    return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(r), std::size_t{0});
  }
  rank_t ranks() const { return static_cast<rank_t>(counts.size()); }

  std::string text() const {
    return std::string(name_of(what)) + " of " + std::to_string(total()) + " on " + std::to_string(ranks()) +
           ", root " + std::to_string(root) + (in_place ? ", in place" : "") + (even ? ", even" : "") + ", seed " +
           std::to_string(seed);
  }
};

/// What can be asked of its verb: pieces of an all_to_all are of one length.
inline task possible(task t) {
  if (t.what != verb::all_to_all) return t;
  t.even = true;
  t.counts.assign(t.counts.size(), t.counts.front());
  return t;
}

inline bool can_be_in_place(verb what) {
  return what != verb::barrier && what != verb::reduce_shared && what != verb::allreduce_view;
}

inline std::vector<std::size_t> even_counts(rank_t ranks, std::size_t each) {
  return std::vector<std::size_t>(ranks, each);
}

/// Elements first, first + 1 … of the vector that a verb is about.
struct stretch {
  std::size_t first = 0, count = 0;

  bool contains(std::size_t at) const { return first <= at && at - first < count; }
};

/// What of the vector a rank gives.
inline stretch given_by(task const& t, rank_t r) {
  switch (t.what) {
    case verb::allgather:
    case verb::gather:
      return {t.begin(r), t.counts[r]};
    case verb::broadcast:
    case verb::scatter:
      return {0, r == t.root ? t.total() : 0};
    case verb::allreduce:
    case verb::reduce:
    case verb::reduce_scatter:
    case verb::scan:
    case verb::exclusive_scan:
    case verb::barrier:
    case verb::reduce_shared:
    case verb::allreduce_view:
    case verb::all_to_all:
      return {0, t.total()};
  }
  return {};
}

/// Elements of a result: what the ranks begin … end − 1 give as the elements `from`, from + 1 …, folded in this order.
struct part {
  stretch of;
  rank_t begin, end;
  std::size_t from;
};

/// What a rank gets, one part behind the other; none where it gets nothing, and an array that it names stays as it was.
inline std::vector<part> parts_of(task const& t, rank_t r) {
  stretch const whole{0, t.total()}, piece{t.begin(r), t.counts[r]};
  rank_t const ranks = t.ranks(), root = t.root;
  std::vector<part> parts;
  std::size_t at = 0;
  switch (t.what) {
    case verb::allreduce:
    case verb::reduce_shared:
    case verb::allreduce_view:
    case verb::barrier:
      return {{whole, 0, ranks, 0}};
    case verb::reduce:
      if (r == root) return {{whole, 0, ranks, 0}};
      return {};
    case verb::reduce_scatter:
      return {{piece, 0, ranks, piece.first}};
    case verb::scan:
      return {{whole, 0, r + 1, 0}};
    case verb::exclusive_scan:
      if (r > 0) return {{whole, 0, r, 0}};
      return {};
    case verb::broadcast:
      return {{whole, root, root + 1, 0}};
    case verb::scatter:
      return {{piece, root, root + 1, piece.first}};
    case verb::gather:
      if (r != root) return {};
      [[fallthrough]];
    case verb::allgather:
      for (rank_t q = 0; q < ranks; at += t.counts[q++]) parts.push_back({{at, t.counts[q]}, q, q + 1, at});
      return parts;
    case verb::all_to_all:
      for (rank_t q = 0; q < ranks; at += t.counts[q++]) parts.push_back({{at, t.counts[q]}, q, q + 1, piece.first});
      return parts;
  }
  return parts;
}

/// Where its parts lie in the vector.
inline stretch got_by(task const& t, rank_t r) {
  auto const parts = parts_of(t, r);
  if (parts.empty()) return {};
  return {parts.front().of.first, parts.back().of.first + parts.back().of.count - parts.front().of.first};
}

/// Whether a rank names one array for what it gives and what it gets. It has the whole vector, where both have their places.
inline bool in_one_array(task const& t, rank_t r) {
  bool const of_root = t.what == verb::gather || t.what == verb::scatter;
  return t.what == verb::broadcast || (t.in_place && (!of_root || r == t.root));
}

/// Whether its input is afterwards what it was. In one array what is moved lies where it has been, unless it is swapped.
inline bool keeps_input(task const& t, rank_t r) {
  bool const stays =
      t.what == verb::allgather || t.what == verb::gather || t.what == verb::broadcast || t.what == verb::scatter;
  return stays || !in_one_array(t, r) || parts_of(t, r).empty();
}

/// The arrays that a rank names.
struct layout {
  bool one;                           ///< then `in` is it
  std::size_t in_length, out_length;  ///< of the arrays themselves
  stretch in, out;                    ///< what of them the call names
};

inline layout layout_of(task const& t, rank_t r) {
  stretch const whole{0, t.total()}, gives = given_by(t, r), gets = got_by(t, r);
  if (in_one_array(t, r)) {
    // Who gives nothing to a broadcast, or gets nothing of a sum, names the array all the same.
    bool const gets_nothing = parts_of(t, r).empty();
    return {true, whole.count, 0, t.what == verb::broadcast ? whole : gives, gets_nothing ? whole : gets};
  }
  bool const elsewhere = t.what == verb::reduce_shared || t.what == verb::allreduce_view;
  std::size_t const out = elsewhere ? 0 : t.what == verb::exclusive_scan ? whole.count : gets.count;
  return {false, gives.count, out, {0, gives.count}, {0, out}};
}

}  // namespace coset::team_test
