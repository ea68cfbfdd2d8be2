// SPDX-License-Identifier: Apache-2.0
// allgather: every rank gets all ranks' arrays, one after the other.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <span>
#include <type_traits>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

template <class Out, class In>
call allgather_call(member& me, In const& in, std::remove_reference_t<Out>& out, std::span<std::size_t const> counts) {
  if constexpr (moves<In, Out>()) {
    std::size_t const whole = whole_of(me.state(), "allgather", std::ranges::size(in), counts);
    require_same_length(me.state(), "allgather, all pieces", whole, std::ranges::size(out));
    return {.what = verb::allgather,
            .in = std::ranges::data(in),
            .out = std::ranges::data(out),
            .count = whole,
            .reduction = &copy_of<std::ranges::range_value_t<Out>>(),
            .counts = counts};
  } else {
    return missing<call>();
  }
}

}  // namespace detail

/// Puts every rank's `in`, n elements each, into every rank's `out`: rank r's at [r·n, (r+1)·n).
///
/// Collective: the same length and type on every rank. `in` is this rank's own piece of `out`, or overlaps nothing.
/// Cost: one flag round, and one more before the callers may touch their arrays again; (P−1)/P·m read per rank.
/// Throws as allreduce; argument_error on every rank if out.size() is not P·in.size().
template <class In, class Out>
void allgather(member& me, In const& in, Out&& out) {
  detail::run(me.state(), detail::allgather_call<Out>(me, in, out, {}));
}

/// The same with counts[r] elements from rank r; the same counts on every rank.
template <class In, class Out>
void allgather(member& me, In const& in, Out&& out, std::span<std::size_t const> counts) {
  detail::run(me.state(), detail::allgather_call<Out>(me, in, out, counts));
}

/// The same in split phase, see request.
template <class In, class Out>
[[nodiscard]] request start_allgather(member& me, In const& in, Out&& out, std::span<std::size_t const> counts = {}) {
  return detail::start(me.state(), detail::allgather_call<Out>(me, in, out, counts), nullptr);
}

}  // namespace coset
