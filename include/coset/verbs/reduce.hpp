// SPDX-License-Identifier: Apache-2.0
// reduce: one rank gets the element-wise reduction of all ranks' arrays.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <type_traits>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

/// Only the root's output counts; other ranks' outputs may have any length and stay untouched.
template <class Out, class In, class Op>
call reduce_call(member& me, In const& in, std::remove_reference_t<Out>& out, rank_t root, Op const& op) {
  if constexpr (reduces_into<In, Out, Op>()) {
    if (me.rank() == root) require_same_length(me.state(), "reduce", std::ranges::size(in), std::ranges::size(out));
    return {.what = verb::reduce,
            .in = std::ranges::data(in),
            .out = std::ranges::data(out),
            .count = std::ranges::size(in),
            .reduction = &table_of<std::ranges::range_value_t<Out>, Op>(),
            .operation = operation_of(me, op),
            .root = root};
  } else {
    return missing<call>();
  }
}

}  // namespace detail

/// Reduces `in` element-wise over all ranks of the team into `out` on rank `root`; other ranks' `out` is ignored.
///
/// Collective, as allreduce, with the same root on every rank. On the root `out` may be `in`.
/// Cost: one flag round at the root for small arrays; reduce-scatter and gather, (P−1)/P·m each, above.
/// Throws as allreduce; argument_error on every rank if there is no such root.
template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
void reduce(member& me, In const& in, Out&& out, rank_t root, Op op = {}) {
  detail::run(me.state(), detail::reduce_call<Out>(me, in, out, root, op));
}

/// The same in place: the root's array becomes the result, the other arrays stay as they are.
template <std::ranges::range InOut, class Op = plus>
void reduce(member& me, InOut&& inout, rank_t root, Op op = {}) {
  detail::run(me.state(), detail::reduce_call<InOut>(me, inout, inout, root, op));
}

/// The same in split phase, see request.
template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
[[nodiscard]] request start_reduce(member& me, In const& in, Out&& out, rank_t root, Op op = {}) {
  return detail::start(me.state(), detail::reduce_call<Out>(me, in, out, root, op), detail::kept_if_possible(op));
}

template <std::ranges::range InOut, class Op = plus>
[[nodiscard]] request start_reduce(member& me, InOut&& inout, rank_t root, Op op = {}) {
  return detail::start(me.state(), detail::reduce_call<InOut>(me, inout, inout, root, op),
                       detail::kept_if_possible(op));
}

}  // namespace coset
