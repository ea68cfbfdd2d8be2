// SPDX-License-Identifier: Apache-2.0
// broadcast: every rank gets one rank's array.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <ranges>

#include "coset/detail/collective.hpp"

namespace coset {

namespace detail {

template <class InOut>
call broadcast_call(InOut& data, rank_t root) {
  return {.what = verb::broadcast,
          .in = std::ranges::data(data),
          .out = std::ranges::data(data),
          .count = std::ranges::size(data),
          .reduction = &copy_of<std::ranges::range_value_t<InOut>>(),
          .root = root};
}

}  // namespace detail

/// Copies rank `root`'s `data` into every other rank's.
///
/// Collective: the same length, type and root on every rank. A rank may return before other ranks have come.
/// Cost: one flag round for small arrays; scatter and allgather, 2·m in and out of each rank at most, above.
/// Throws as allreduce; argument_error on every rank if there is no such root.
template <writable_elements InOut>
void broadcast(member& me, InOut&& data, rank_t root) {
  detail::run(me.state(), detail::broadcast_call(data, root));
}

/// The same for one value: returns the root's.
template <element T>
requires(!std::ranges::range<T>) [[nodiscard]] T broadcast(member& me, T value, rank_t root) {
  detail::run(me.state(), {.what = verb::broadcast,
                           .in = &value,
                           .out = &value,
                           .count = 1,
                           .reduction = &detail::copy_of<T>(),
                           .root = root});
  return value;
}

/// The same in split phase, see request.
template <writable_elements InOut>
[[nodiscard]] request start_broadcast(member& me, InOut&& data, rank_t root) {
  return detail::start(me.state(), detail::broadcast_call(data, root), nullptr);
}

}  // namespace coset
