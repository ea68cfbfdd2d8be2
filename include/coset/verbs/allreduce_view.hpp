// SPDX-License-Identifier: Apache-2.0
// allreduce_view: the reduction, readable in the team's memory without a copy.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <span>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

/// Reduces `in` element-wise over all ranks and returns a view of the result in the team's memory: one per rank while those of all ranks
/// take no more than 8 MiB, as lines that all read are dear to write again; else, in crowds and over processes, from 1 KiB on,
/// one per node and process.
///
/// Collective, as allreduce. The view may be read until this rank's next collective call of any kind, including
/// start_…(), or until reset() or the end of run(). A node's result is overwritten only after every rank of the node
/// has made that call. Throws argument_error if `in` is the last call's view.
/// Cost: that of allreduce; where ranks share a result, without the copies to private outputs. An adopted team counts as one node,
/// wherever its threads run.
template <class In, class Op = plus>
[[nodiscard]] auto allreduce_view(member& me, In const& in, Op op = {}) {
  if constexpr (detail::reduces<In, Op>()) {
    using value = std::ranges::range_value_t<In>;
    std::size_t const count = std::ranges::size(in);
    void const* const result = detail::run_view(me.state(), {.what = verb::allreduce_view,
                                                             .in = std::ranges::data(in),
                                                             .count = count,
                                                             .reduction = &detail::table_of<value, Op>(),
                                                             .operation = detail::operation_of(me, op)});
    return std::span(static_cast<value const*>(result), count);
  }
}

}  // namespace coset
