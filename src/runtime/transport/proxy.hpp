// SPDX-License-Identifier: Apache-2.0
// The executor's messages: what programs say in operands, endpoints get in bytes.
#pragma once

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// On entering a segment: names to the endpoint what this rank's program will receive.
void expect_messages(detail::rank_state&, flight const&);
void send_message(detail::rank_state&, flight const&, program::instruction const&);
/// Whether the message that the instruction waits for is here. Fails the team if it is another operation's.
bool message_is_here(detail::rank_state&, flight const&, program::instruction const&);
/// Before leaving a segment: until then peers may fetch from this rank's staging, and from that of those it is the proxy of.
bool all_sent(detail::rank_state&, flight const&);

/// What a rank does at each look in vain whose team has messages: a proxy lets them progress, whatever it waits for
/// itself, and hears of failures; and an operation that has not got on until the deadline fails the team.
void look_around(detail::rank_state&, flight&);
/// The same, as far as failures are concerned, in a team without messages that was split from one with them.
inline void listen_for_others(detail::rank_state& me) {
  shared_memory const& origin = me.shared.origin;
  if (origin.kind.has_messages && !me.shared.kind.has_messages) [[unlikely]]
    origin.part.messages->progress(me);
}

}  // namespace coset::runtime
