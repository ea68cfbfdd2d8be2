// SPDX-License-Identifier: Apache-2.0
// gather: one rank gets all ranks' arrays, one after the other.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <span>
#include <type_traits>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

/// Only the root's output counts; other ranks' outputs may have any length and stay untouched.
template <class Out, class In>
call gather_call(member& me, In const& in, std::remove_reference_t<Out>& out, rank_t root,
                 std::span<std::size_t const> counts) {
  if constexpr (moves<In, Out>()) {
    std::size_t const whole = whole_of(me.state(), "gather", std::ranges::size(in), counts);
    if (me.rank() == root) require_same_length(me.state(), "gather, all pieces", whole, std::ranges::size(out));
    return {.what = verb::gather,
            .in = std::ranges::data(in),
            .out = std::ranges::data(out),
            .count = whole,
            .reduction = &copy_of<std::ranges::range_value_t<Out>>(),
            .root = root,
            .counts = counts};
  } else {
    return missing<call>();
  }
}

}  // namespace detail

/// Puts every rank's `in`, n elements each, into `out` on rank `root`: rank r's at [r·n, (r+1)·n). Other ranks' `out` is
/// ignored.
///
/// Collective: the same length, type and root on every rank. On the root `in` may be its own piece of `out`. A rank other
/// than the root may return before others have come.
/// Cost: the root looks at P−1 flags and reads (P−1)/P·m. Of longer arrays many ranks, or ranks near each other, store
/// their pieces into `out` at once as soon as the root has come; few that are apart wait until it has read theirs.
/// Throws as allreduce; argument_error on every rank if there is no such root, or its out.size() is not P·in.size().
/// schedule_error on every rank of a team of more than 8,192.
template <class In, class Out>
void gather(member& me, In const& in, Out&& out, rank_t root) {
  detail::run(me.state(), detail::gather_call<Out>(me, in, out, root, {}));
}

/// The same with counts[r] elements from rank r; the same counts on every rank.
template <class In, class Out>
void gather(member& me, In const& in, Out&& out, rank_t root, std::span<std::size_t const> counts) {
  detail::run(me.state(), detail::gather_call<Out>(me, in, out, root, counts));
}

/// The same in split phase, see request. A long piece that its owner stores is there once the owner has looked at its request
/// after the root has come.
template <class In, class Out>
[[nodiscard]] request start_gather(member& me, In const& in, Out&& out, rank_t root,
                                   std::span<std::size_t const> counts = {}) {
  return detail::start(me.state(), detail::gather_call<Out>(me, in, out, root, counts), nullptr);
}

}  // namespace coset
