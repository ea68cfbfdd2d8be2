// SPDX-License-Identifier: Apache-2.0
// reduce_scatter: each rank gets its piece of the element-wise reduction.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <span>
#include <type_traits>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

template <class Out, class In, class Op>
call reduce_scatter_call(member& me, In const& in, std::remove_reference_t<Out>& out,
                         std::span<std::size_t const> counts, Op const& op) {
  if constexpr (reduces_into<In, Out, Op>()) {
    std::size_t const count = std::ranges::size(in);
    require_same_length(me.state(), "reduce_scatter, this rank's piece",
                        piece_of(me.state(), "reduce_scatter", count, counts), std::ranges::size(out));
    return {.what = verb::reduce_scatter,
            .in = std::ranges::data(in),
            .out = std::ranges::data(out),
            .count = count,
            .reduction = &table_of<std::ranges::range_value_t<Out>, Op>(),
            .operation = operation_of(me, op),
            .counts = counts};
  } else {
    return missing<call>();
  }
}

}  // namespace detail

/// Reduces `in` element-wise over all ranks. With n = in.size()/P, rank r's `out` gets elements [r·n, (r+1)·n) of the
/// result.
///
/// Collective, as allreduce. `out` is this rank's own piece of `in`, or overlaps nothing.
/// Cost: one flag round, and one more before the callers may touch their arrays again; (P−1)/P·m read per rank.
/// Throws as allreduce; argument_error on every rank if in.size() is no multiple of P or `out` does not have the
/// piece's length.
template <class In, class Out, class Op = plus>
requires(!std::ranges::range<Op>) void reduce_scatter(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::reduce_scatter_call<Out>(me, in, out, {}, op));
}

/// The same with a piece of counts[r] elements for rank r, one after the other; the same counts on every rank.
template <class In, class Out, class Op = plus>
void reduce_scatter(member& me, In const& in, Out&& out, std::span<std::size_t const> counts, Op op = {}) {
  detail::run(me.state(), detail::reduce_scatter_call<Out>(me, in, out, counts, op));
}

/// The same in split phase, see request.
template <class In, class Out, class Op = plus>
requires(!std::ranges::range<Op>) [[nodiscard]] request
    start_reduce_scatter(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::reduce_scatter_call<Out>(me, in, out, {}, op), detail::kept_if_possible(op));
}

template <class In, class Out, class Op = plus>
[[nodiscard]] request start_reduce_scatter(member& me, In const& in, Out&& out, std::span<std::size_t const> counts,
                                           Op op = {}) {
  return detail::start(me.state(), detail::reduce_scatter_call<Out>(me, in, out, counts, op),
                       detail::kept_if_possible(op));
}

}  // namespace coset
