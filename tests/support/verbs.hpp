// SPDX-License-Identifier: Apache-2.0
// Any collective on any arrays against a serial reference: what each rank gives, must get, and must keep.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "support/teams.hpp"

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

/// What can be asked of its verb: pieces of an all_to_all are of one length.
inline task possible(task t) {
  if (t.what != verb::all_to_all) return t;
  t.even = true;
  t.counts.assign(t.counts.size(), t.counts.front());
  return t;
}

template <class T>
std::size_t in_length(task const& t, rank_t r) {
  if (t.what == verb::gather) return t.in_place && r == t.root ? t.total() : t.counts[r];
  if (t.what == verb::scatter) return r == t.root ? t.total() : 0;
  return t.what == verb::barrier ? 0 : t.what == verb::allgather && !t.in_place ? t.counts[r] : t.total();
}

template <class T>
std::size_t out_length(task const& t, rank_t r) {
  if (t.what == verb::gather) return r == t.root && !t.in_place ? t.total() : 0;
  if (t.what == verb::scatter) return r == t.root && t.in_place ? 0 : t.counts[r];
  bool const none = t.in_place || t.what == verb::broadcast || t.what == verb::barrier ||
                    t.what == verb::reduce_shared || t.what == verb::allreduce_view ||
                    (t.what == verb::reduce && r != t.root);
  return none ? 0 : t.what == verb::reduce_scatter ? t.counts[r] : t.total();
}

template <class T>
arrays<T> prepared(task const& t, rank_t r) {
  arrays<T> a{std::vector<T>(in_length<T>(t, r) + 1, T(guard)), std::vector<T>(out_length<T>(t, r) + 1, T(guard))};
  bool const gathers = t.what == verb::allgather || t.what == verb::gather;
  bool const piece_in_whole = gathers && t.in_place && (t.what == verb::allgather || r == t.root);
  std::size_t const first = piece_in_whole ? t.begin(r) : 0;
  std::size_t const length = gathers ? t.counts[r] : in_length<T>(t, r);
  T* const to = a.in.data() + first;
  for (std::size_t i = 0; i < length; ++i) to[i] = given<T>(t, r, i);
  return a;
}

/// Elements of the whole vector, from `first` on.
template <class T>
struct stretch {
  std::size_t first = 0;
  std::vector<T> elements = {};
};

/// What a rank gives.
template <class T>
std::vector<T> given(task const& t, rank_t rank, std::size_t first, std::size_t count) {
  std::vector<T> all(count);
  T* const to = all.data();
  for (std::size_t i = 0; i < count; ++i) to[i] = given<T>(t, rank, first + i);
  return all;
}

/// The sum of ranks 0 … end − 1.
template <class T>
stretch<T> sum(task const& t, rank_t end, std::size_t first, std::size_t count) {
  stretch<T> all{first, given<T>(t, 0, first, count)};
  T* const to = all.elements.data();
  for (rank_t q = 1; q < end; ++q) {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(to[i] + given<T>(t, q, first + i));
  }
  return all;
}

/// What must be in the whole vector that rank r ends with; nothing where it keeps what it had. `all` is the sum of all
/// ranks if somebody has it already.
template <class T>
stretch<T> expected(task const& t, rank_t r, std::vector<T> const& all = {}) {
  auto const sum_of_all = [&](std::size_t first, std::size_t count) {
    if (all.empty()) return sum<T>(t, t.ranks(), first, count);
    return stretch<T>{first, {all.data() + first, all.data() + first + count}};
  };
  switch (t.what) {
    case verb::reduce:
      return r == t.root ? sum_of_all(0, t.total()) : stretch<T>();
    case verb::reduce_scatter:
      return sum_of_all(t.begin(r), t.counts[r]);
    case verb::gather:
      if (r != t.root) return stretch<T>();
      [[fallthrough]];
    case verb::allgather: {
      stretch<T> whole;
      for (rank_t q = 0; q < t.ranks(); ++q) {
        auto const piece = given<T>(t, q, 0, t.counts[q]);
        whole.elements.insert(whole.elements.end(), piece.begin(), piece.end());
      }
      return whole;
    }
    case verb::broadcast:
      return {0, given<T>(t, t.root, 0, t.total())};
    case verb::scatter:
      return {t.begin(r), given<T>(t, t.root, t.begin(r), t.counts[r])};
    case verb::all_to_all: {
      stretch<T> whole;
      for (rank_t q = 0; q < t.ranks(); ++q) {
        auto const piece = given<T>(t, q, t.begin(r), t.counts[r]);
        whole.elements.insert(whole.elements.end(), piece.begin(), piece.end());
      }
      return whole;
    }
    case verb::scan:
      return sum<T>(t, r + 1, 0, t.total());
    case verb::exclusive_scan:
      return r == 0 ? stretch<T>() : sum<T>(t, r, 0, t.total());
    default:
      return sum_of_all(0, t.total());
  }
}

/// The sum of all ranks where it is part of what they get, for all of them to look at.
template <class T>
std::vector<T> sum_for_all(task const& t) {
  bool const same_for_all = t.what == verb::allreduce || t.what == verb::reduce || t.what == verb::reduce_scatter ||
                            t.what == verb::reduce_shared || t.what == verb::allreduce_view;
  return same_for_all ? sum<T>(t, t.ranks(), 0, t.total()).elements : std::vector<T>();
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
  if (!t.in_place || (detail::is_of_pieces(t.what) && detail::is_rooted(t.what) && r != t.root)) return {in, out};
  auto const piece = [&] { return in.subspan(t.begin(r), t.counts[r]); };
  if (t.what == verb::reduce_scatter || t.what == verb::scatter) return {in, piece()};
  if (t.what == verb::allgather || t.what == verb::gather) return {piece(), in};
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
    case verb::gather:
      return t.even ? gather(me, s.in, s.out, t.root) : gather(me, s.in, s.out, t.root, t.counts);
    case verb::scatter:
      return t.even ? scatter(me, s.in, s.out, t.root) : scatter(me, s.in, s.out, t.root, t.counts);
    case verb::all_to_all:
      return all_to_all(me, s.in, s.out);
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
    case verb::gather:
      return t.even ? start_gather(me, s.in, s.out, t.root) : start_gather(me, s.in, s.out, t.root, t.counts);
    case verb::scatter:
      return t.even ? start_scatter(me, s.in, s.out, t.root) : start_scatter(me, s.in, s.out, t.root, t.counts);
    case verb::all_to_all:
      return start_all_to_all(me, s.in, s.out);
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

/// Empty where rank r got what it must and kept all else; otherwise what is wrong. `all`: see expected().
template <class T>
std::string fault(task const& t, rank_t r, arrays<T>& a, std::span<T> shared, std::vector<T> const& viewed,
                  std::vector<T> const& all = {}) {
  if (a.in.back() != T(guard) || a.out.back() != T(guard))
    return t.text() + ": rank " + std::to_string(r) + " wrote beyond its arrays";
  if (t.what == verb::barrier) return {};
  spans<T> const s = spans_of(t, r, a, shared);
  T const* result = t.what == verb::allreduce_view ? viewed.data() : s.out.data();
  if (t.what == verb::allreduce_view && viewed.size() != t.total()) return t.text() + ": a view of another length";
  auto const [first, wanted] = expected<T>(t, r, all);
  if (t.what != verb::reduce_scatter && t.what != verb::scatter) result += first;
  if (!std::equal(wanted.begin(), wanted.end(), result)) {
    auto const at =
        static_cast<std::size_t>(std::mismatch(wanted.begin(), wanted.end(), result).first - wanted.begin());
    return t.text() + ": rank " + std::to_string(r) + " element " + std::to_string(first + at) + " is " +
           std::to_string(result[at]) + ", not " + std::to_string(wanted[at]);
  }
  bool const overwritten = t.in_place || t.what == verb::broadcast;
  bool const kept = !overwritten || t.what == verb::scatter ||
                    ((t.what == verb::reduce || t.what == verb::gather) && r != t.root) ||
                    (t.what == verb::exclusive_scan && r == 0);
  if (kept && !std::equal(a.in.begin(), a.in.end() - 1, given<T>(t, r, 0, a.in.size() - 1).begin()))
    return t.text() + ": rank " + std::to_string(r) + "'s input has changed";
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
