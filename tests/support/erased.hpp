// SPDX-License-Identifier: Apache-2.0
// Collectives of verbs.hpp on elements of any combination: arrays of bytes, and the calls beneath the typed verbs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "coset/plan.hpp"
#include "support/combination.hpp"
#include "support/verbs.hpp"

namespace coset::team_test {

struct erased_task {
  task what;
  combination const* of;
  std::vector<std::byte> whole = {};  ///< what folded() made, if it was asked to

  detail::reduction_table const& table() const { return detail::only_moves(what.what) ? *of->copy : *of->reduction; }
  std::string text() const { return of->name + ", " + what.text(); }
};

/// One rank's arrays, with an element's bytes of guard behind each.
struct erased_arrays {
  std::vector<std::byte> in, out;
};
constexpr std::byte guard_byte{0x5A};

/// `count` elements of what a rank gives, from the first-th on.
inline void give(erased_task const& t, rank_t rank, std::size_t first, std::size_t count, std::byte* to) {
  t.of->give(to, t.what.seed * 31 + rank, first, count);
}

inline erased_arrays prepared(erased_task const& t, rank_t r) {
  std::size_t const bytes = t.of->bytes;
  task const& what = t.what;
  erased_arrays a{std::vector<std::byte>((in_length<char>(what, r) + 1) * bytes, guard_byte),
                  std::vector<std::byte>((out_length<char>(what, r) + 1) * bytes, guard_byte)};
  bool const gathers = what.what == verb::allgather || what.what == verb::gather;
  bool const in_whole = what.in_place && (what.what == verb::allgather || r == what.root);
  std::size_t const first = gathers && in_whole ? what.begin(r) : 0;
  std::size_t const length = gathers ? what.counts[r] : in_length<char>(what, r);
  give(t, r, 0, length, &a.in[first * bytes]);
  return a;
}

/// Where the call finds its input and leaves its result.
struct places {
  std::byte *in, *out;
  std::size_t in_count, out_count;
};

inline places all_places_of(erased_task const& t, rank_t r, erased_arrays& a, std::vector<std::byte>& shared) {
  task const& what = t.what;
  std::size_t const bytes = t.of->bytes, in = in_length<char>(what, r), out = out_length<char>(what, r);
  if (what.what == verb::reduce_shared) return {a.in.data(), shared.data(), in, what.total()};
  if (what.what == verb::broadcast) return {a.in.data(), a.in.data(), in, in};
  bool const roots_alone = what.what == verb::gather || what.what == verb::scatter;
  if (!what.in_place || (roots_alone && r != what.root)) return {a.in.data(), a.out.data(), in, out};
  std::byte* const piece = a.in.data() + what.begin(r) * bytes;
  bool const scatters = what.what == verb::reduce_scatter || what.what == verb::scatter;
  bool const gathers = what.what == verb::allgather || what.what == verb::gather;
  if (scatters) return {a.in.data(), piece, in, what.counts[r]};
  if (gathers) return {piece, a.in.data(), what.counts[r], in};
  return {a.in.data(), a.in.data(), in, in};
}

/// A rank that gives or gets nothing has no array.
inline places places_of(erased_task const& t, rank_t r, erased_arrays& a, std::vector<std::byte>& shared) {
  places at = all_places_of(t, r, a, shared);
  if (at.in_count == 0) at.in = nullptr;
  if (at.out_count == 0) at.out = nullptr;
  return at;
}

inline detail::call call_of(erased_task const& t, places const& at) {
  detail::call c{.what = t.what.what,
                 .in = at.in,
                 .out = at.out,
                 .count = t.what.what == verb::barrier ? 0 : t.what.total(),
                 .reduction = &t.table(),
                 .operation = t.of->operation,
                 .root = t.what.root};
  if (detail::is_of_pieces(t.what.what) && !t.what.even) c.counts = t.what.counts;
  if (!detail::is_rooted(t.what.what)) c.root = 0;
  if (t.what.what == verb::barrier) c.in = c.out = nullptr;
  return c;
}

/// What a rank must get of the whole vector: elements from `first` on.
struct expectation {
  std::size_t first = 0, count = 0;
  std::vector<std::byte> elements = {};
};

/// The fold of ranks 0 … end − 1.
inline expectation fold_of(erased_task const& t, rank_t end, std::size_t first, std::size_t count) {
  expectation made{first, count, std::vector<std::byte>(count * t.of->bytes)};
  std::vector<std::byte> next(made.elements.size());
  give(t, 0, first, count, made.elements.data());
  for (rank_t q = 1; q < end; ++q) {
    give(t, q, first, count, next.data());
    t.of->fold(made.elements.data(), next.data(), count);
  }
  return made;
}

/// The same task with the fold of all ranks, so that not each of them makes it before it looks at its result.
inline erased_task folded(erased_task t) {
  verb const what = t.what.what;
  bool const same_for_all = what == verb::allreduce || what == verb::reduce || what == verb::reduce_scatter ||
                            what == verb::reduce_shared || what == verb::allreduce_view;
  if (same_for_all) t.whole = fold_of(t, t.what.ranks(), 0, t.what.total()).elements;
  return t;
}

inline expectation part_of_fold(erased_task const& t, std::size_t first, std::size_t count) {
  if (t.whole.empty()) return fold_of(t, t.what.ranks(), first, count);
  auto const begin = t.whole.begin() + static_cast<std::ptrdiff_t>(first * t.of->bytes);
  return {first, count, {begin, begin + static_cast<std::ptrdiff_t>(count * t.of->bytes)}};
}

inline expectation expected(erased_task const& t, rank_t r) {
  task const& what = t.what;
  std::size_t const total = what.total(), bytes = t.of->bytes;
  expectation whole{0, total, std::vector<std::byte>(total * bytes)};
  switch (what.what) {
    case verb::reduce:
      return r == what.root ? part_of_fold(t, 0, total) : expectation{};
    case verb::reduce_scatter:
      return part_of_fold(t, what.begin(r), what.counts[r]);
    case verb::scatter:
      whole = {what.begin(r), what.counts[r], std::vector<std::byte>(what.counts[r] * bytes)};
      give(t, what.root, what.begin(r), what.counts[r], whole.elements.data());
      return whole;
    case verb::all_to_all:
      for (rank_t q = 0; q < what.ranks(); ++q)
        give(t, q, what.begin(r), what.counts[r], whole.elements.data() + what.begin(q) * bytes);
      return whole;
    case verb::gather:
      if (r != what.root) return {};
      [[fallthrough]];
    case verb::allgather:
      for (rank_t q = 0; q < what.ranks(); ++q)
        give(t, q, 0, what.counts[q], whole.elements.data() + what.begin(q) * bytes);
      return whole;
    case verb::broadcast:
      give(t, what.root, 0, total, whole.elements.data());
      return whole;
    case verb::scan:
      return fold_of(t, r + 1, 0, total);
    case verb::exclusive_scan:
      return r > 0 ? fold_of(t, r, 0, total) : expectation{};
    default:
      return part_of_fold(t, 0, total);
  }
}

inline bool is_guard(std::byte const* at, std::size_t bytes) {
  return std::all_of(at, at + bytes, [](std::byte b) { return b == guard_byte; });
}

/// Empty where rank r got what it must and kept all else; otherwise what is wrong.
inline std::string fault(erased_task const& t, rank_t r, erased_arrays& a, std::vector<std::byte>& shared,
                         std::vector<std::byte> const& viewed) {
  std::size_t const bytes = t.of->bytes;
  std::string const who = t.text() + ": rank " + std::to_string(r);
  if (!is_guard(a.in.data() + a.in.size() - bytes, bytes) || !is_guard(a.out.data() + a.out.size() - bytes, bytes))
    return who + " wrote beyond its arrays";
  task const& what = t.what;
  if (what.what == verb::barrier) return {};
  std::byte const* const result = what.what == verb::allreduce_view ? viewed.data() : places_of(t, r, a, shared).out;
  expectation const wanted = expected(t, r);
  bool const scatters = what.what == verb::reduce_scatter || what.what == verb::scatter;
  std::size_t const skipped = scatters ? 0 : wanted.first;
  std::size_t const wrong = t.of->differ(wanted.elements.data(), result + skipped * bytes, wanted.count);
  if (wrong != wanted.count) return who + ": element " + std::to_string(wrong) + " is wrong";
  bool const gets_none = (what.what == verb::reduce || what.what == verb::gather) && r != what.root;
  bool const nothing = gets_none || (what.what == verb::exclusive_scan && r == 0);
  if (nothing || (!what.in_place && what.what != verb::broadcast)) {
    std::size_t const length = a.in.size() / bytes - 1;
    std::vector<std::byte> given(length * bytes);
    give(t, r, 0, length, given.data());
    if (t.of->differ(given.data(), a.in.data(), length) != length) return who + ": its input has changed";
  }
  if (what.what == verb::exclusive_scan && r == 0 && !is_guard(a.out.data(), a.out.size()))
    return who + " got something";
  return {};
}

}  // namespace coset::team_test
