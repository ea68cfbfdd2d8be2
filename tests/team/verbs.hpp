// SPDX-License-Identifier: Apache-2.0
// Any collective on any arrays against a serial reference: what each rank gives, must get, and must keep.
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "team/teams.hpp"

namespace coset::team_test {

/// One collective call, the same on every rank.
struct task {
  verb what = verb::allreduce;
  std::vector<std::size_t> counts = {};  ///< of the ranks' pieces; their sum is the whole
  bool even = false;                     ///< call the form without counts
  rank_t root = 0;
  bool in_place = false;
  std::uint64_t seed = 0;

  std::size_t total() const { return std::accumulate(counts.begin(), counts.end(), std::size_t{0}); }
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

/// Small whole numbers: sums are exact in every element type and bracketing.
template <class T>
T given(task const& t, rank_t rank, std::size_t index) {
  std::uint64_t x = (t.seed * 31 + rank) * 0x9E3779B97F4A7C15u + index * 0xBF58476D1CE4E5B9u;
  return static_cast<T>(static_cast<int>((x ^ x >> 31) % 17) - 8);
}

/// One rank's arrays, with a guard behind each.
template <class T>
struct arrays {
  std::vector<T> in, out;
};

inline constexpr int guard = 99;

template <class T>
std::size_t in_length(task const& t, rank_t r) {
  return t.what == verb::barrier ? 0 : t.what == verb::allgather && !t.in_place ? t.counts[r] : t.total();
}

template <class T>
std::size_t out_length(task const& t, rank_t r) {
  bool const none = t.in_place || t.what == verb::broadcast || t.what == verb::barrier ||
                    t.what == verb::reduce_shared || t.what == verb::allreduce_view ||
                    (t.what == verb::reduce && r != t.root);
  return none ? 0 : t.what == verb::reduce_scatter ? t.counts[r] : t.total();
}

template <class T>
arrays<T> prepared(task const& t, rank_t r) {
  arrays<T> a{std::vector<T>(in_length<T>(t, r) + 1, T(guard)), std::vector<T>(out_length<T>(t, r) + 1, T(guard))};
  bool const piece_in_whole = t.what == verb::allgather && t.in_place;
  std::size_t const first = piece_in_whole ? t.begin(r) : 0;
  std::size_t const length = t.what == verb::allgather ? t.counts[r] : in_length<T>(t, r);
  for (std::size_t i = 0; i < length; ++i) a.in[first + i] = given<T>(t, r, i);
  return a;
}

/// What must be in the whole vector that rank r ends with, at element i; nothing where it keeps what it had.
template <class T>
std::optional<T> expected(task const& t, std::vector<std::size_t> const& borders, rank_t r, std::size_t i) {
  auto const sum = [&](rank_t end) {
    T s = given<T>(t, 0, i);
    for (rank_t q = 1; q < end; ++q) s = static_cast<T>(s + given<T>(t, q, i));
    return s;
  };
  bool const mine = i >= borders[r] && i < borders[r + 1];
  switch (t.what) {
    case verb::reduce:
      return r == t.root ? std::optional(sum(t.ranks())) : std::nullopt;
    case verb::reduce_scatter:
      return mine ? std::optional(sum(t.ranks())) : std::nullopt;
    case verb::allgather: {
      rank_t owner = 0;
      while (i >= borders[owner + 1]) ++owner;
      return given<T>(t, owner, i - borders[owner]);
    }
    case verb::broadcast:
      return given<T>(t, t.root, i);
    case verb::scan:
      return sum(r + 1);
    case verb::exclusive_scan:
      return r == 0 ? std::nullopt : std::optional(sum(r));
    default:
      return sum(t.ranks());
  }
}

/// The arrays as the call takes them: input, and where the result will be, whole or piece.
template <class T>
struct spans {
  std::span<T> in, out;
};

template <class T>
spans<T> spans_of(task const& t, rank_t r, arrays<T>& a, std::span<T> shared) {
  std::span<T> const in(a.in.data(), a.in.size() - 1), out(a.out.data(), a.out.size() - 1);
  if (t.what == verb::reduce_shared) return {in, shared};
  if (t.what == verb::broadcast) return {in, in};
  if (!t.in_place) return {in, out};
  if (t.what == verb::reduce_scatter) return {in, in.subspan(t.begin(r), t.counts[r])};
  if (t.what == verb::allgather) return {in.subspan(t.begin(r), t.counts[r]), in};
  return {in, in};
}

/// Calls it; a view is copied out.
template <class T, class Op = plus>
void call(member& me, task const& t, spans<T> s, std::vector<T>& viewed, Op op = {}) {
  switch (t.what) {
    case verb::allreduce:
      return allreduce(me, s.in, s.out, op);
    case verb::reduce:
      return t.in_place ? reduce(me, s.in, t.root, op) : reduce(me, s.in, s.out, t.root, op);
    case verb::reduce_scatter:
      return t.even ? reduce_scatter(me, s.in, s.out, op) : reduce_scatter(me, s.in, s.out, t.counts, op);
    case verb::allgather:
      return t.even ? allgather(me, s.in, s.out) : allgather(me, s.in, s.out, t.counts);
    case verb::broadcast:
      return broadcast(me, s.in, t.root);
    case verb::scan:
      return scan(me, s.in, s.out, op);
    case verb::exclusive_scan:
      return exclusive_scan(me, s.in, s.out, op);
    case verb::barrier:
      return barrier(me);
    case verb::reduce_shared:
      return reduce_shared(me, s.in, s.out, op);
    case verb::allreduce_view: {
      auto const view = allreduce_view(me, s.in, op);
      viewed.assign(view.begin(), view.end());
    }
  }
}

/// The same in split phase; allreduce_view has none.
template <class T, class Op = plus>
request start(member& me, task const& t, spans<T> s, Op op = {}) {
  switch (t.what) {
    case verb::allreduce:
      return start_allreduce(me, s.in, s.out, op);
    case verb::reduce:
      return t.in_place ? start_reduce(me, s.in, t.root, op) : start_reduce(me, s.in, s.out, t.root, op);
    case verb::reduce_scatter:
      return t.even ? start_reduce_scatter(me, s.in, s.out, op) : start_reduce_scatter(me, s.in, s.out, t.counts, op);
    case verb::allgather:
      return t.even ? start_allgather(me, s.in, s.out) : start_allgather(me, s.in, s.out, t.counts);
    case verb::broadcast:
      return start_broadcast(me, s.in, t.root);
    case verb::scan:
      return start_scan(me, s.in, s.out, op);
    case verb::exclusive_scan:
      return start_exclusive_scan(me, s.in, s.out, op);
    case verb::reduce_shared:
      return start_reduce_shared(me, s.in, s.out, op);
    default:
      return start_barrier(me);
  }
}

/// Empty where rank r got what it must and kept all else; otherwise what is wrong.
template <class T>
std::string fault(task const& t, rank_t r, arrays<T>& a, std::span<T> shared, std::vector<T> const& viewed) {
  if (a.in.back() != T(guard) || a.out.back() != T(guard))
    return t.text() + ": rank " + std::to_string(r) + " wrote beyond its arrays";
  if (t.what == verb::barrier) return {};
  spans<T> const s = spans_of(t, r, a, shared);
  bool const piece = t.what == verb::reduce_scatter;
  T const* const result = t.what == verb::allreduce_view ? viewed.data() : s.out.data();
  if (t.what == verb::allreduce_view && viewed.size() != t.total()) return t.text() + ": a view of another length";
  std::vector<std::size_t> borders{0};
  for (std::size_t const count : t.counts) borders.push_back(borders.back() + count);
  for (std::size_t i = 0; i < borders.back(); ++i) {
    auto const wanted = expected<T>(t, borders, r, i);
    if (!wanted) continue;
    T const got = result[piece ? i - borders[r] : i];
    if (got != *wanted) {
      return t.text() + ": rank " + std::to_string(r) + " element " + std::to_string(i) + " is " + std::to_string(got) +
             ", not " + std::to_string(*wanted);
    }
  }
  bool const overwritten = t.in_place || t.what == verb::broadcast;
  for (std::size_t i = 0; i + 1 < a.in.size(); ++i) {
    bool const kept =
        !overwritten || (t.what == verb::reduce && r != t.root) || (t.what == verb::exclusive_scan && r == 0);
    if (kept && a.in[i] != given<T>(t, r, i)) return t.text() + ": rank " + std::to_string(r) + "'s input has changed";
  }
  bool const nothing = t.what == verb::exclusive_scan && r == 0 && !t.in_place;
  if (nothing && std::count(a.out.begin(), a.out.end(), T(guard)) != static_cast<std::ptrdiff_t>(a.out.size())) {
    return t.text() + ": rank 0 got something";
  }
  return {};
}

inline std::vector<std::size_t> even_counts(rank_t ranks, std::size_t each) {
  return std::vector<std::size_t>(ranks, each);
}

}  // namespace coset::team_test
