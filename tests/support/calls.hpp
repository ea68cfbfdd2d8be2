// SPDX-License-Identifier: Apache-2.0
// Any collective in C++, on one rank's arrays.
#pragma once

#include <span>
#include <vector>

#include "coset/coset.hpp"
#include "support/oracle.hpp"

namespace coset::team_test {

/// One rank's.
template <class T>
struct arrays {
  std::vector<T> in, out;
};

/// The arrays as the call takes them: input, and where the result will be, whole or piece.
template <class T>
struct spans {
  std::span<T> in, out;
};

/// An element of the task has `scale` of the arrays.
template <class T>
spans<T> spans_of(task const& t, rank_t r, arrays<T>& a, std::span<T> shared, std::size_t scale = 1) {
  layout const all = layout_of(t, r);
  auto const named = [&](std::vector<T>& array, stretch s) {
    return std::span<T>(array).subspan(s.first * scale, s.count * scale);
  };
  return {named(a.in, all.in), t.what == verb::reduce_shared ? shared : named(all.one ? a.in : a.out, all.out)};
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

/// The same in split phase; allreduce_view has none, and ranks only meet.
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
    case verb::barrier:
    case verb::allreduce_view:
      break;
  }
  return start_barrier(me);
}

}  // namespace coset::team_test
