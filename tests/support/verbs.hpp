// SPDX-License-Identifier: Apache-2.0
// Any collective on any arrays against the oracle: arrays of a type, for the typed verbs, or of bytes, for the calls beneath
// them on elements of any combination.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "coset/plan.hpp"
#include "support/calls.hpp"
#include "support/combination.hpp"
#include "support/oracle.hpp"
#include "support/teams.hpp"

namespace coset::team_test {

struct erased_task {
  task what;
  combination const* of;
  std::vector<std::byte> whole = {};  ///< what folded() made, if it was asked to

  detail::reduction_table const& table() const { return detail::only_moves(what.what) ? *of->copy : *of->reduction; }
  std::string text() const { return of->name + ", " + what.text(); }
};

/// Sums of any type.
template <class T>
erased_task summed(task const& t) {
  static combination const sums = combine<T>(plus{});
  return {t, &sums};
}

using erased_arrays = arrays<std::byte>;
constexpr std::byte guard_byte{0x5A};

/// `count` elements of what a rank gives, from the first-th of the vector on.
inline void give(erased_task const& t, rank_t rank, std::size_t first, std::size_t count, void* to) {
  t.of->give(to, t.what.seed * 31 + rank, first, count);
}

/// With an element of guard behind each.
template <class T>
arrays<T> prepared(erased_task const& t, rank_t r) {
  layout const all = layout_of(t.what, r);
  std::size_t const scale = t.of->bytes / sizeof(T);
  arrays<T> a{std::vector<T>((all.in_length + 1) * scale), std::vector<T>((all.out_length + 1) * scale)};
  for (auto* const each : {&a.in, &a.out})
    std::memset(each->data(), std::to_integer<int>(guard_byte), each->size() * sizeof(T));
  stretch const gives = given_by(t.what, r);
  give(t, r, gives.first, gives.count, &a.in[all.in.first * scale]);
  return a;
}
template <class T>
arrays<T> prepared(task const& t, rank_t r) {
  return prepared<T>(summed<T>(t), r);
}

/// Where an erased call finds its input and leaves its result. A rank that gives or gets nothing has no array.
struct places {
  std::byte *in, *out;
  std::size_t in_count, out_count;
};

inline places places_of(erased_task const& t, rank_t r, erased_arrays& a, std::vector<std::byte>& shared) {
  std::size_t const bytes = t.of->bytes;
  auto const s = spans_of<std::byte>(t.what, r, a, shared, bytes);
  auto const at = [](std::span<std::byte> named) { return named.empty() ? nullptr : named.data(); };
  return {at(s.in), at(s.out), s.in.size() / bytes, s.out.size() / bytes};
}

inline detail::call call_of(erased_task const& t, places const& at) {
  task const& what = t.what;
  detail::call c{.what = what.what,
                 .in = at.in,
                 .out = at.out,
                 .count = what.total(),
                 .reduction = &t.table(),
                 .operation = t.of->operation,
                 .root = detail::is_rooted(what.what) ? what.root : 0};
  if (detail::is_of_pieces(what.what) && !what.even) c.counts = what.counts;
  return c;
}

inline bool is_of_all(task const& t, part const& p) { return p.begin == 0 && p.end == t.ranks(); }

inline std::vector<std::byte> fold_of(erased_task const& t, part const& p) {
  if (is_of_all(t.what, p) && !t.whole.empty()) {
    auto const known = std::span(t.whole).subspan(p.from * t.of->bytes, p.of.count * t.of->bytes);
    return {known.begin(), known.end()};
  }
  std::vector<std::byte> made(p.of.count * t.of->bytes), next(made.size());
  give(t, p.begin, p.from, p.of.count, made.data());
  for (rank_t q = p.begin + 1; q < p.end; ++q) {
    give(t, q, p.from, p.of.count, next.data());
    t.of->fold(made.data(), next.data(), p.of.count);
  }
  return made;
}

/// The same task with the fold of all ranks, so that not each of them makes it before it looks at its result.
inline erased_task folded(erased_task t) {
  task const& what = t.what;
  auto const parts = parts_of(what, what.root);
  if (std::ranges::any_of(parts, [&](part const& p) { return is_of_all(what, p); }))
    t.whole = fold_of(t, {{0, what.total()}, 0, what.ranks(), 0});
  return t;
}

/// The elements that rank r must get.
inline std::vector<std::byte> expected(erased_task const& t, rank_t r) {
  std::vector<std::byte> all;
  for (part const& p : parts_of(t.what, r)) {
    auto const made = fold_of(t, p);
    all.insert(all.end(), made.begin(), made.end());
  }
  return all;
}

/// What must become of a rank's arrays, made beforehand: who judges then needs no memory unless something is wrong.
class judge {
 public:
  judge(erased_task const& t, rank_t r)
      : what_(t.what),
        of_(t.of),
        rank_(r),
        all_(layout_of(t.what, r)),
        gets_nothing_(parts_of(t.what, r).empty()),
        wanted_(expected(t, r)) {
    if (!keeps_input(t.what, r)) return;
    stretch const gives = given_by(t.what, r);
    kept_.resize(gives.count * of_->bytes);
    give(t, r, gives.first, gives.count, kept_.data());
  }

  /// Empty where the rank got what it must and kept all else; otherwise what is wrong.
  template <class T>
  std::string fault(arrays<T> const& a, std::span<T> shared, std::vector<T> const& viewed) const {
    bool const is_view = what_.what == verb::allreduce_view, is_shared = what_.what == verb::reduce_shared;
    std::size_t const bytes = of_->bytes;
    auto const in = std::as_bytes(std::span(a.in)), out = std::as_bytes(std::span(a.out));
    if (!is_guard(in.last(bytes)) || !is_guard(out.last(bytes))) return said(" wrote beyond its arrays");
    if (gets_nothing_ && !is_guard(out)) return said(" got something");
    auto const got = is_view     ? std::as_bytes(std::span(viewed))
                     : is_shared ? std::as_bytes(shared)
                                 : (all_.one ? in : out).subspan(all_.out.first * bytes);
    if (is_view && got.size() != wanted_.size()) return said(" has a view of another length");
    std::size_t const count = wanted_.size() / bytes, wrong = of_->differ(wanted_.data(), got.data(), count);
    if (wrong != count)
      return said(": element " + std::to_string(wrong) + " is " + of_->show(&got[wrong * bytes]) + " instead of " +
                  of_->show(&wanted_[wrong * bytes]));
    std::size_t const kept = kept_.size() / bytes;
    if (of_->differ(kept_.data(), &in[all_.in.first * bytes], kept) != kept) return said("'s input has changed");
    return {};
  }

 private:
  std::string said(std::string const& words) const {
    return erased_task{what_, of_}.text() + ": rank " + std::to_string(rank_) + words;
  }
  static bool is_guard(std::span<std::byte const> each) {
    return std::ranges::count(each, guard_byte) == std::ssize(each);
  }

  task const what_;
  combination const* of_;
  rank_t const rank_;
  layout const all_;
  bool const gets_nothing_;
  std::vector<std::byte> wanted_, kept_;
};

template <class T>
std::string fault_of(erased_task const& t, rank_t r, arrays<T> const& a, std::type_identity_t<std::span<T>> shared,
                     std::type_identity_t<std::vector<T>> const& viewed) {
  return judge(t, r).fault<T>(a, shared, viewed);
}
template <class T>
std::string fault_of(task const& t, rank_t r, arrays<T> const& a, std::type_identity_t<std::span<T>> shared,
                     std::type_identity_t<std::vector<T>> const& viewed) {
  return fault_of<T>(summed<T>(t), r, a, shared, viewed);
}

}  // namespace coset::team_test
