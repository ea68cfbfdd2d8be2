// SPDX-License-Identifier: Apache-2.0
// scan and exclusive_scan: each rank gets the reduction of the ranks up to it, or before it.
#pragma once

#include "coset/detail/cxx20.hpp"

#include "coset/detail/standard_parts.hpp"
#include "coset/verbs/allreduce.hpp"

namespace coset::inline COSET_ABI {

/// Reduces `in` element-wise over ranks 0 … r into `out` of rank r, in rank order.
///
/// Collective, as allreduce. `out` may be `in`. A rank may return before later ranks have come.
/// Cost: one flag round and r·m read by rank r for small arrays; two rounds and 2(P−1)/P·m above.
/// Throws as allreduce.
template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
void scan(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call<Out>(me, in, out, op, verb::scan));
}

template <std::ranges::range InOut, class Op = plus>
requires(!std::ranges::range<Op>) void scan(member& me, InOut&& inout, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call<InOut>(me, inout, inout, op, verb::scan));
}

/// A pointer does not know its length, which the compiler says.
template <class T, class Op = plus>
void scan(member&, T const volatile*, Op = {}) {
  (void)detail::is_array<T*>();
}

/// The same for one value.
template <class T, class Op = plus>
requires(!std::ranges::range<T> && !std::is_pointer_v<T> && !std::ranges::range<Op>) [[nodiscard]] T
    scan(member& me, T value, Op op = {}) {
  return detail::reduced_value(me, verb::scan, value, op);
}

/// Reduces over ranks 0 … r−1 into `out` of rank r. Rank 0 gets no result: its `out` stays untouched.
template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
void exclusive_scan(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call<Out>(me, in, out, op, verb::exclusive_scan));
}

template <std::ranges::range InOut, class Op = plus>
requires(!std::ranges::range<Op>) void exclusive_scan(member& me, InOut&& inout, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call<InOut>(me, inout, inout, op, verb::exclusive_scan));
}

template <class T, class Op = plus>
void exclusive_scan(member&, T const volatile*, Op = {}) {
  (void)detail::is_array<T*>();
}

/// The same in split phase, see request.
template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
[[nodiscard]] request start_scan(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call<Out>(me, in, out, op, verb::scan),
                       detail::kept_if_possible(op));
}

template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
[[nodiscard]] request start_exclusive_scan(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call<Out>(me, in, out, op, verb::exclusive_scan),
                       detail::kept_if_possible(op));
}

}  // namespace coset
