// SPDX-License-Identifier: Apache-2.0
// Split phase: an operation under way.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstdint>

#include "coset/detail/standard_parts.hpp"
#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {

class member;

namespace detail {
struct rank_state;
struct rank_handle;

/// A rank that may have ended. The handle outlives all ranks and is used again; `life` tells its ranks apart.
struct rank_reference {
  rank_handle const* handle = nullptr;
  std::uint64_t life = 0;

  rank_state* rank() const noexcept;  ///< null once the rank has ended; its team may have, too
};
}  // namespace detail

/// The result of start_…(). Its arrays, and its plan if it has one, must stay untouched until it is complete.
///
/// Operations of a member match in the order in which they start, in whatever order they are waited for. Any call of a
/// member that waits or tests advances all its operations; nothing advances them in the background. At most eight are
/// under way per member: the ninth start completes the first. Where ranks of several processes share staging, an
/// allgather or reduce_scatter that does not fit in the staging is complete when its start returns.
///
/// Only the member's thread uses a request. Throws the team's error if the team fails; argument_error if the run() or
/// the membership in which it started has ended. A request may outlive both, and the team.
class COSET_API request {
 public:
  request() = default;  ///< complete
  request(request&& other) noexcept;
  request& operator=(request&& other) noexcept;  ///< gives up its own operation, as the destructor does
  /// Giving up an operation before it is complete aborts the team: other ranks depend on this one.
  ~request();

  /// Advances the operation. True once complete: the output is ready, and the arrays belong to the caller again.
  bool test();
  void wait();
  /// False if that takes longer: the operation stays live, and the next call continues it (GASPI's semantics).
  bool wait_for(std::chrono::nanoseconds longest);

  /// Whether it is an operation of this member's present run or membership, or complete.
  bool belongs_to(member const&) const noexcept;
  /// Whether a call for one of them advances the other, too: their members are one, or were split from one.
  bool advances_with(request const& other) const noexcept;
  /// wait() that calls this function between its looks, for a thread that has other things to bring on.
  void wait(void (*between)(void*) noexcept, void* context);

  request(detail::rank_reference member, std::uint32_t channel, std::uint64_t serial, std::uint32_t generation) noexcept
      : member_(member), serial_(serial), channel_(channel), generation_(generation) {}

 private:
  detail::rank_state* live_member() const;

  detail::rank_reference member_;  ///< without a handle: complete
  std::uint64_t serial_ = 0;
  std::uint32_t channel_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace coset
