// SPDX-License-Identifier: Apache-2.0
// reduce_shared: one result that all ranks see.
#pragma once

#include "coset/detail/cxx20.hpp"

#include "coset/detail/standard_parts.hpp"
#include "coset/verbs/allreduce.hpp"

namespace coset::inline COSET_ABI {

/// Reduces `in` element-wise over all ranks into `out`, which is the same array on every rank of a process.
///
/// Collective, as allreduce. Each element is written once in each process, by one of its ranks; every rank sees the whole result
/// at return. Nothing is written before every rank of the process has come, so the previous result may be read until then.
/// Cost: two flag rounds and (P−1)/P·m read per rank, like hand-written slices between two barriers.
/// Throws as allreduce; argument_error on every rank if the ranks of a process name different outputs, or `in` overlaps `out`.
template <class In, class Out, class Op = plus>
void reduce_shared(member& me, In const& in, Out&& out, Op op = {}) {
  detail::run(me.state(), detail::allreduce_call<Out>(me, in, out, op, verb::reduce_shared));
}

/// The same in split phase, see request.
template <class In, class Out, class Op = plus>
[[nodiscard]] request start_reduce_shared(member& me, In const& in, Out&& out, Op op = {}) {
  return detail::start(me.state(), detail::allreduce_call<Out>(me, in, out, op, verb::reduce_shared),
                       detail::kept_if_possible(op));
}

}  // namespace coset
