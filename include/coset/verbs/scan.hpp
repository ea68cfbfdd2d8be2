// SPDX-License-Identifier: Apache-2.0
// scan and exclusive_scan: each rank gets the reduction of the ranks up to it, or before it.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <ranges>

#include "coset/verbs/allreduce.hpp"

namespace coset {

/// Reduces `in` element-wise over ranks 0 … r into `out` of rank r, in rank order.
///
/// Collective, as allreduce. `out` may be `in`. A rank may return before later ranks have come.
/// Cost: one flag round and r·m read by rank r for small arrays; two rounds and 2(P−1)/P·m above.
/// Throws as allreduce.
template <elements In, writable_elements Out, reduction<std::ranges::range_value_t<Out>> Op = plus>
requires same_elements<In, Out>
void scan(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call(me, in, out, op, verb::scan));
}

template <writable_elements InOut, reduction<std::ranges::range_value_t<InOut>> Op = plus>
void scan(member& me, InOut&& inout, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call(me, inout, inout, op, verb::scan));
}

/// The same for one value.
template <element T, reduction<T> Op = plus>
requires(!std::ranges::range<T>) [[nodiscard]] T scan(member& me, T value, Op op = {}) {
  T result = value;
  detail::run(me.state(), {.what = verb::scan,
                           .in = &value,
                           .out = &result,
                           .count = 1,
                           .reduction = &detail::table_of<T, Op>(),
                           .operation = std::addressof(op)});
  return result;
}

/// Reduces over ranks 0 … r−1 into `out` of rank r. Rank 0 gets no result: its `out` stays untouched.
template <elements In, writable_elements Out, reduction<std::ranges::range_value_t<Out>> Op = plus>
requires same_elements<In, Out>
void exclusive_scan(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call(me, in, out, op, verb::exclusive_scan));
}

template <writable_elements InOut, reduction<std::ranges::range_value_t<InOut>> Op = plus>
void exclusive_scan(member& me, InOut&& inout, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call(me, inout, inout, op, verb::exclusive_scan));
}

/// The same in split phase, see request.
template <elements In, writable_elements Out, reduction<std::ranges::range_value_t<Out>> Op = plus>
requires same_elements<In, Out>
[[nodiscard]] request start_scan(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call(me, in, out, op, verb::scan), detail::kept(op));
}

template <elements In, writable_elements Out, reduction<std::ranges::range_value_t<Out>> Op = plus>
requires same_elements<In, Out>
[[nodiscard]] request start_exclusive_scan(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call(me, in, out, op, verb::exclusive_scan), detail::kept(op));
}

}  // namespace coset
