// SPDX-License-Identifier: Apache-2.0
// scatter: each rank gets its piece of one rank's array.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <span>
#include <type_traits>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

/// Only the root's input counts; other ranks' inputs may have any length.
template <class Out, class In>
call scatter_call(member& me, In const& in, std::remove_reference_t<Out>& out, rank_t root,
                  std::span<std::size_t const> counts) {
  if constexpr (moves<In, Out>()) {
    std::size_t const whole = whole_of(me.state(), "scatter", std::ranges::size(out), counts);
    if (me.rank() == root) require_same_length(me.state(), "scatter, all pieces", std::ranges::size(in), whole);
    return {.what = verb::scatter,
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

/// Splits `in` on rank `root` into P pieces of n = out.size() elements: rank r's `out` gets elements [r·n, (r+1)·n). Other
/// ranks' `in` is ignored.
///
/// Collective: the same length, type and root on every rank. On the root `out` may be its own piece of `in`.
/// Cost: one flag; the root gives (P−1)/P·m, and of longer arrays waits until all have read.
/// Throws as allreduce; argument_error on every rank if there is no such root, or its in.size() is not P·out.size().
/// schedule_error on every rank of a team of more than 8,192.
template <class In, class Out>
void scatter(member& me, In const& in, Out&& out, rank_t root) {
  detail::run(me.state(), detail::scatter_call<Out>(me, in, out, root, {}));
}

/// The same with a piece of counts[r] elements for rank r, one after the other; the same counts on every rank.
template <class In, class Out>
void scatter(member& me, In const& in, Out&& out, rank_t root, std::span<std::size_t const> counts) {
  detail::run(me.state(), detail::scatter_call<Out>(me, in, out, root, counts));
}

/// The same in split phase, see request.
template <class In, class Out>
[[nodiscard]] request start_scatter(member& me, In const& in, Out&& out, rank_t root,
                                    std::span<std::size_t const> counts = {}) {
  return detail::start(me.state(), detail::scatter_call<Out>(me, in, out, root, counts), nullptr);
}

}  // namespace coset
