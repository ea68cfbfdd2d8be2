// SPDX-License-Identifier: Apache-2.0
// broadcast: every rank gets one rank's array.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <memory>
#include <span>
#include <type_traits>

#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

template <class InOut>
call broadcast_call(std::remove_reference_t<InOut>& data, rank_t root) {
  if constexpr (is_result<InOut>()) {
    return {.what = verb::broadcast,
            .in = std::ranges::data(data),
            .out = std::ranges::data(data),
            .count = std::ranges::size(data),
            .reduction = &copy_of<std::ranges::range_value_t<InOut>>(),
            .root = root};
  } else {
    return missing<call>();
  }
}

}  // namespace detail

/// Copies rank `root`'s `data` into every other rank's.
///
/// Collective: the same length, type and root on every rank. A rank may return before other ranks have come.
/// Cost: one flag round for small arrays; scatter and allgather, 2·m in and out of each rank at most, above.
/// Throws as allreduce; argument_error on every rank if there is no such root.
template <std::ranges::range InOut>
void broadcast(member& me, InOut&& data, rank_t root) {
  detail::run(me.state(), detail::broadcast_call<InOut>(data, root));
}

/// A pointer does not know its length, which the compiler says.
template <class T>
void broadcast(member&, T const volatile*, rank_t) {
  (void)detail::is_array<T*>();
}

/// The same for one value: returns the root's.
template <class T>
requires(!std::ranges::range<T> && !std::is_pointer_v<T>) [[nodiscard]] T broadcast(member& me, T value, rank_t root) {
  if constexpr (detail::is_value<T>()) {
    std::span<T, 1> one(std::addressof(value), 1);
    detail::run(me.state(), detail::broadcast_call<std::span<T, 1>&>(one, root));
  }
  return value;
}

/// The same in split phase, see request.
template <class InOut>
[[nodiscard]] request start_broadcast(member& me, InOut&& data, rank_t root) {
  return detail::start(me.state(), detail::broadcast_call<InOut>(data, root), nullptr);
}

}  // namespace coset
