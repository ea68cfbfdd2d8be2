// SPDX-License-Identifier: Apache-2.0
// allreduce: every rank gets the element-wise reduction of all ranks' arrays.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <memory>
#include <type_traits>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

template <class Out, class In, class Op>
call allreduce_call(member& me, In const& in, std::remove_reference_t<Out>& out, Op const& op,
                    verb what = verb::allreduce) {
  if constexpr (reduces_into<In, Out, Op>()) {
    require_same_length(me.state(), "allreduce", std::ranges::size(in), std::ranges::size(out));
    return {.what = what,
            .in = std::ranges::data(in),
            .out = std::ranges::data(out),
            .count = std::ranges::size(out),
            .reduction = &table_of<std::ranges::range_value_t<Out>, Op>(),
            .operation = operation_of(me, op)};
  } else {
    return missing<call>();
  }
}

/// `value` of all ranks, or of those that a scan goes by.
template <class T, class Op>
T reduced_value(member& me, verb what, T const& value, Op const& op) {
  if constexpr (reduces_value<T, Op>()) {
    T result = value;
    run(me.state(), {.what = what,
                     .in = std::addressof(value),
                     .out = std::addressof(result),
                     .count = 1,
                     .reduction = &table_of<T, Op>(),
                     .operation = operation_of(me, op)});
    return result;
  } else {
    return missing<T>();
  }
}

}  // namespace detail

/// Reduces `in` element-wise over all ranks of the team into `out` on every rank.
///
/// Arrays are contiguous and know their length: vectors, spans and the like (concepts `elements` and `writable_elements`,
/// `reduction` for the operation). The compiler says in a sentence what is wrong with others.
/// Collective: every rank calls it with the same count, type, operation and in-place-ness. `out` is `in` itself or
/// overlaps neither `in` nor another rank's arrays; no other thread may touch either until return. Any count, any
/// alignment.
/// Bits: equal on every rank, and on every run with the same team size and count.
/// Cost: one flag round and (P−1)·m read per rank where the plan is eager (small m), two rounds and 2(P−1)/P·m above.
/// Throws mismatch_error on every rank if the ranks disagree, argument_error on every rank if arrays overlap or differ
/// in length, aborted if the team was aborted.
/// Source: the generalised allreduce of Kolmakov and Zhang, with one-step folds (radix P) inside a machine.
template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
void allreduce(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call<Out>(me, in, out, op));
}

/// The same in place.
template <std::ranges::range InOut, class Op = plus>
requires(!std::ranges::range<Op>) void allreduce(member& me, InOut&& inout, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call<InOut>(me, inout, inout, op));
}

/// A pointer does not know its length, which the compiler says.
template <class T, class Op = plus>
void allreduce(member&, T const volatile*, Op = {}) {
  (void)detail::is_array<T*>();
}

/// The same for one value: returns the reduction of all ranks' values.
template <class T, class Op = plus>
requires(!std::ranges::range<T> && !std::is_pointer_v<T> && !std::ranges::range<Op>) [[nodiscard]] T
    allreduce(member& me, T value, Op op = {}) {
  return detail::reduced_value(me, verb::allreduce, value, op);
}

/// The same in split phase, see request.
template <class In, class Out, class Op = plus>
requires detail::precedes<Out, Op>
[[nodiscard]] request start_allreduce(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call<Out>(me, in, out, op), detail::kept_if_possible(op));
}

template <std::ranges::range InOut, class Op = plus>
requires(!std::ranges::range<Op>) [[nodiscard]] request start_allreduce(member& me, InOut&& inout, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call<InOut>(me, inout, inout, op), detail::kept_if_possible(op));
}

}  // namespace coset
