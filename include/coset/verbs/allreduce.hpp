// SPDX-License-Identifier: Apache-2.0
// allreduce: every rank gets the element-wise reduction of all ranks' arrays.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <memory>
#include <ranges>

#include "coset/detail/collective.hpp"

namespace coset {

namespace detail {

template <class In, class Out, class Op>
call allreduce_call(member& me, In const& in, Out& out, Op const& op, verb what = verb::allreduce) {
  require_same_length(me.state(), "allreduce", std::ranges::size(in), std::ranges::size(out));
  return {.what = what,
          .in = std::ranges::data(in),
          .out = std::ranges::data(out),
          .count = std::ranges::size(out),
          .reduction = &table_of<std::ranges::range_value_t<Out>, Op>(),
          .operation = std::addressof(op)};
}

}  // namespace detail

/// Reduces `in` element-wise over all ranks of the team into `out` on every rank.
///
/// Collective: every rank calls it with the same count, type, operation and in-place-ness. `out` is `in` itself or
/// overlaps neither `in` nor another rank's arrays; no other thread may touch either until return. Any count, any
/// alignment.
/// Bits: equal on every rank, and on every run with the same team size and count.
/// Cost: one flag round and (P−1)·m read per rank where the plan is eager (small m), two rounds and 2(P−1)/P·m above.
/// Throws mismatch_error on every rank if the ranks disagree, argument_error on every rank if arrays overlap or differ
/// in length, aborted if the team was aborted.
/// Source: the generalised allreduce of Kolmakov and Zhang, with one-step folds (radix P) inside a machine.
template <elements In, writable_elements Out, reduction<std::ranges::range_value_t<Out>> Op = plus>
requires same_elements<In, Out>
void allreduce(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call(me, in, out, op));
}

/// The same in place.
template <writable_elements InOut, reduction<std::ranges::range_value_t<InOut>> Op = plus>
void allreduce(member& me, InOut&& inout, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call(me, inout, inout, op));
}

/// The same for one value: returns the reduction of all ranks' values.
template <element T, reduction<T> Op = plus>
requires(!std::ranges::range<T>) [[nodiscard]] T allreduce(member& me, T value, Op op = {}) {
  T result = value;
  detail::run(me.state(), {.what = verb::allreduce,
                           .in = &value,
                           .out = &result,
                           .count = 1,
                           .reduction = &detail::table_of<T, Op>(),
                           .operation = std::addressof(op)});
  return result;
}

/// The same in split phase, see request.
template <elements In, writable_elements Out, reduction<std::ranges::range_value_t<Out>> Op = plus>
requires same_elements<In, Out>
[[nodiscard]] request start_allreduce(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call(me, in, out, op), detail::kept(op));
}

template <writable_elements InOut, reduction<std::ranges::range_value_t<InOut>> Op = plus>
[[nodiscard]] request start_allreduce(member& me, InOut&& inout, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call(me, inout, inout, op), detail::kept(op));
}

}  // namespace coset
