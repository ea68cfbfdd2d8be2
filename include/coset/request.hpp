// SPDX-License-Identifier: Apache-2.0
// Split phase: an operation under way.
#pragma once

#include <chrono>
#include <cstdint>

#include "coset/visibility.h"

namespace coset {

class member;

namespace detail {
struct rank_state;
struct rank_handle;

/// A rank that may have ended. The handle outlives all ranks; each that comes there counts its lives on.
struct rank_reference {
  rank_handle const* handle = nullptr;
  std::uint64_t life = 0;

  rank_state* rank() const noexcept;  ///< null once it has ended, and perhaps its team
};
}  // namespace detail

/// What start_…() returns. Its arrays and, where it has one, its plan stay untouched until it is complete.
///
/// Operations of a member match in the order of their starts, whatever order they are waited for in. Any call of a
/// member that waits or tests advances all its operations; nothing advances them in the background. At most eight are
/// under way per member: the ninth start completes the first. Where ranks of several processes share staging, an
/// allgather or reduce_scatter that does not fit in it is complete when its start returns.
///
/// Only the member's thread uses it. Throws what the team fails with; argument_error if the run() or the membership that
/// it belongs to has ended; it may outlive both, and the team.
class COSET_API request {
 public:
  request() = default;  ///< complete
  request(request&& other) noexcept;
  request& operator=(request&& other) noexcept;  ///< gives up what it held, as the destructor does
  /// An operation that is given up before it is complete aborts the team: peers count on this rank.
  ~request();

  /// Advances; true once complete: the output is there, the arrays are the caller's again.
  bool test();
  void wait();
  /// False if that takes longer: the operation stays live, and the next call goes on where it is (GASPI's semantics).
  bool wait_for(std::chrono::nanoseconds longest);

  /// Whether it stands for an operation of this member's present run or membership, or for none.
  bool belongs_to(member const&) const noexcept;

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
