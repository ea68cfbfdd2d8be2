// SPDX-License-Identifier: Apache-2.0
// all_to_all: every rank has a piece for every other.
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
call all_to_all_call(member& me, In const& in, std::remove_reference_t<Out>& out) {
  if constexpr (moves<In, Out>()) {
    std::size_t const whole = std::ranges::size(in);
    require_same_length(me.state(), "all_to_all", whole, std::ranges::size(out));
    (void)piece_of(me.state(), "all_to_all", whole, {});
    return {.what = verb::all_to_all,
            .in = std::ranges::data(in),
            .out = std::ranges::data(out),
            .count = whole,
            .reduction = &copy_of<std::ranges::range_value_t<Out>>()};
  } else {
    return missing<call>();
  }
}

}  // namespace detail

/// Every rank's `in` is P pieces of n elements, the d-th for rank d. Rank d gets that of rank o at [o·n, (o+1)·n) of its
/// `out`: what a transposition of a matrix needs whose rows the ranks have.
///
/// Collective: the same length and type on every rank. `out` may be `in`, on all ranks or none; otherwise it overlaps neither
/// `in` nor another rank's arrays.
/// Cost: one flag round, and for arrays that peers read in place one more before the callers may touch them again; each rank
/// reads (P−1)/P·m. In place everything goes through the team's memory, in segments.
/// Throws as allreduce; argument_error on every rank if in.size() is no multiple of P, or out.size() is another;
/// schedule_error on every rank of a team of more than 8,192.
template <class In, class Out>
void all_to_all(member& me, In const& in, Out&& out) {
  detail::run(me.state(), detail::all_to_all_call<Out>(me, in, out));
}

/// The same in split phase, see request.
template <class In, class Out>
[[nodiscard]] request start_all_to_all(member& me, In const& in, Out&& out) {
  return detail::start(me.state(), detail::all_to_all_call<Out>(me, in, out), nullptr);
}

/// The same with pieces of any length, one after the other: send_counts[d] elements for rank d, receive_counts[o] from rank
/// o. Every rank knows its own counts only.
///
/// Collective: the same type on every rank. `out` overlaps neither `in` nor another rank's arrays.
/// Cost: an all_to_all of 24 bytes a piece that tells where pieces lie, the copies, and a barrier. Over processes another
/// barrier before, and messages of up to 256 KiB in place of the copies: each piece travels once, as long as it is.
/// Throws as allreduce; argument_error on every rank if counts are not P or do not add up to the arrays' lengths, and if a
/// rank expects another length, or other elements, than it is sent.
template <class In, class Out>
void all_to_all(member& me, In const& in, Out&& out, std::span<std::size_t const> send_counts,
                std::span<std::size_t const> receive_counts) {
  if constexpr (detail::moves<In, Out>()) {
    (void)detail::piece_of(me.state(), "all_to_all, send counts", std::ranges::size(in), send_counts);
    (void)detail::piece_of(me.state(), "all_to_all, receive counts", std::ranges::size(out), receive_counts);
    detail::run_exchange(me.state(),
                         {.what = verb::all_to_all,
                          .in = std::ranges::data(in),
                          .out = std::ranges::data(out),
                          .reduction = &detail::copy_of<std::ranges::range_value_t<Out>>(),
                          .counts = send_counts},
                         receive_counts);
  }
}

}  // namespace coset
