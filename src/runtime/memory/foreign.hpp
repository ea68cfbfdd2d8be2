// SPDX-License-Identifier: Apache-2.0
// Memory of other ranks' callers, which stays as long as these are in the call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/busy_mark.hpp"
#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Long enough that marking busy costs nothing, short enough that an abort is not kept waiting.
inline constexpr std::size_t foreign_bytes = 256 * 1024;

/// Calls touch(items done, items now) for `all` items, at most `at_once` at a time: only while the team has not failed, so that
/// their owners stay, and a rank that leaves by an exception need not wait long. Once it has failed, throws what it failed
/// with.
template <class Touch>
void touch_foreign(detail::rank_state& me, std::size_t all, std::size_t at_once, Touch touch) {
  for (std::size_t done = 0, now; done < all; done += now) {
    now = std::min(all - done, at_once);
    {
      busy_mark const busy(me.lines.own);
      if (!me.shared.failure.recorded_in_order()) [[likely]]
        touch(done, now);
    }
    if (me.shared.failure.recorded()) [[unlikely]]
      leave(me);
  }
}

inline void copy_foreign(detail::rank_state& me, std::byte* to, std::byte const* from, std::size_t bytes) {
  touch_foreign(me, bytes, foreign_bytes,
                [&](std::size_t done, std::size_t now) { std::memcpy(to + done, from + done, now); });
}

}  // namespace coset::runtime
