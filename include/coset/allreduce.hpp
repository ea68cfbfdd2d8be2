// SPDX-License-Identifier: Apache-2.0
// allreduce: every rank gets the element-wise reduction of all ranks' arrays.
#pragma once

#include <functional>
#include <memory>
#include <ranges>

#include "coset/detail/collective.hpp"

namespace coset {

/// Reduces `in` element-wise over all ranks of the team into `out` on every rank.
///
/// Collective: every rank calls it with the same count, type, operation and in-place-ness. `out` is `in` itself or
/// overlaps neither it nor another rank's arrays; no other thread may touch either until return. Any count, any alignment.
/// Bits: equal on every rank, and on every run with the same team size and count.
/// Cost: one flag round and (P−1)·m read per rank where the plan is eager (small m), two rounds and 2(P−1)/P·m above.
/// Throws mismatch_error on every rank if the ranks disagree, argument_error on every rank if arrays overlap or differ in
/// length, aborted if the team was aborted.
/// Source: the generalised allreduce of Kolmakov and Zhang, with one-step folds (radix P) inside a machine.
template <elements In, writable_elements Out, reduction<std::ranges::range_value_t<Out>> Op = plus>
  requires std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>>
void allreduce(member& me, In const& in, Out&& out, Op const& op = {}) {
  using value = std::ranges::range_value_t<Out>;
  std::size_t const count = std::ranges::size(out);
  detail::require_same_length(me.state(), "allreduce", std::ranges::size(in), count);
  detail::allreduce(me.state(), std::ranges::data(in), std::ranges::data(out), count, detail::table_of<value, Op>(),
                    std::addressof(op));
}

/// The same in place.
template <writable_elements InOut, reduction<std::ranges::range_value_t<InOut>> Op = plus>
void allreduce(member& me, InOut&& inout, Op const& op = {}) {
  using value = std::ranges::range_value_t<InOut>;
  detail::allreduce(me.state(), std::ranges::data(inout), std::ranges::data(inout), std::ranges::size(inout),
                    detail::table_of<value, Op>(), std::addressof(op));
}

/// The same for one value: returns the reduction of all ranks' values.
template <element T, reduction<T> Op = plus>
  requires(!std::ranges::range<T>)
[[nodiscard]] T allreduce(member& me, T value, Op const& op = {}) {
  T result;
  detail::allreduce(me.state(), &value, &result, 1, detail::table_of<T, Op>(), std::addressof(op));
  return result;
}

}  // namespace coset
