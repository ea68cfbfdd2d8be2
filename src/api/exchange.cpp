// SPDX-License-Identifier: Apache-2.0
// all_to_all of pieces of any length: ranks tell each other where the pieces lie, and each copies what is its own.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "api/checks.hpp"
#include "api/exchange.hpp"
#include "coset/operations.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/busy_mark.hpp"
#include "team/team_state.hpp"
#include "text/format.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

using runtime::exchange_memory;
using runtime::piece_notice;

/// Whoever calls something else is told of pieces, not of notices.
reduction_table const& table_of_notices() {
  static reduction_table const table = [] {
    reduction_table named = copy_of<piece_notice>();
    named.type = "pieces of any length";
    return named;
  }();
  return table;
}

/// Where pieces begin that lie one after the other, and where the last one ends.
void lay_out(std::vector<std::size_t>& at, std::span<std::size_t const> counts, std::size_t element_bytes) {
  at.assign(1, 0);
  for (std::size_t const count : counts) at.push_back(at.back() + count * element_bytes);
}

/// The call by which ranks tell each other of their pieces.
call telling(rank_state& me) {
  exchange_memory& pieces = *me.memory.exchanged;
  return {.what = verb::all_to_all,
          .in = pieces.told.data(),
          .out = pieces.heard.data(),
          .count = pieces.told.size(),
          .reduction = &table_of_notices()};
}

/// Asks what the others have for this rank, and tells them what it has for them.
void tell(rank_state& me, call const& c) {
  exchange_memory& pieces = *me.memory.exchanged;
  pieces.told.clear();
  for (rank_t r = 0; r < c.counts.size(); ++r) {
    // Of nothing there may be no array.
    std::byte const* const at = c.counts[r] != 0 ? pieces.in + pieces.sent_at[r] : nullptr;
    pieces.told.push_back({at, c.counts[r], c.reduction->hash});
  }
  pieces.heard.resize(pieces.told.size());
  run(me, telling(me));
}

/// Who finds another length than it expects tells all.
void require_expected(rank_state& me, std::span<std::size_t const> expected, reduction_table const& elements) {
  auto const& heard = me.memory.exchanged->heard;
  for (rank_t o = 0; o < heard.size(); ++o) {
    if (heard[o].count != expected[o])
      refuse(me, text::format("all_to_all: rank {} sends {} elements to rank {}, which expects {}", o, heard[o].count,
                              me.number, expected[o]));
    if (heard[o].type != elements.hash)
      refuse(me, text::format("all_to_all: rank {} sends other elements to rank {} than {}, which that expects", o,
                              me.number, elements.type));
  }
}

/// Each rank begins with its own piece and goes down from there, so that not all read from one.
void fetch(rank_state& me) {
  exchange_memory const& pieces = *me.memory.exchanged;
  rank_t const ranks = me.shared.size();
  for (rank_t k = 0; k < ranks; ++k) {
    rank_t const o = (me.number + ranks - k) % ranks;
    std::size_t const begin = pieces.received_at[o];
    copy_foreign(me, pieces.out + begin, pieces.heard[o].at, pieces.received_at[o + 1] - begin);
  }
  run(me, meeting());
}

void exchange(rank_state& me, call const& c, std::span<std::size_t const> received) {
  exchange_memory& pieces = me.memory.of_exchange();
  pieces.in = static_cast<std::byte*>(const_cast<void*>(c.in));
  pieces.out = static_cast<std::byte*>(c.out);
  lay_out(pieces.sent_at, c.counts, c.reduction->element_bytes);
  lay_out(pieces.received_at, received, c.reduction->element_bytes);
  std::size_t const bytes = pieces.sent_at.back(), other_bytes = pieces.received_at.back();
  require_array(me, c.what, c.in, bytes, "input");
  require_array(me, c.what, c.out, other_bytes, "output");
  bool const apart = pieces.in + bytes <= pieces.out || pieces.out + other_bytes <= pieces.in;
  if (bytes != 0 && other_bytes != 0 && !apart)
    refuse(me, text::format("all_to_all: input and output of rank {} overlap", me.number));
  tell(me, c);
  require_expected(me, received, *c.reduction);
  if (me.shared.kind.one_memory()) return fetch(me);
  assert(me.shared.kind.has_messages);
  if (!me.shared.part.spread.sends_by_stretches())
    refuse(me,
           "all_to_all of pieces of any length: below MPI_THREAD_MULTIPLE a part needs the first rank of each process");
  exchange_by_messages(me, me.plans.plan_for(me.team.plans, telling(me), false, false));
}

}  // namespace

void copy_foreign(rank_state& me, std::byte* to, std::byte const* from, std::size_t bytes) {
  constexpr std::size_t at_once = 256 * 1024;
  for (std::size_t done = 0; done < bytes; done += at_once) {
    {
      runtime::busy_mark const busy(me.lines.own);
      if (!me.shared.failure.recorded_in_order()) [[likely]]
        std::memcpy(to + done, from + done, std::min(at_once, bytes - done));
    }
    if (me.shared.failure.recorded()) [[unlikely]]
      runtime::leave(me);
  }
}

void run_exchange(rank_state& me, call const& c, std::span<std::size_t const> received) {
  std::size_t const bytes = total(c.counts) * c.reduction->element_bytes;
  call_in_parts const whole(me, c.what, bytes);
  try {
    exchange(me, c, received);
  } catch (std::bad_alloc const&) {
    runtime::fail_for_memory(me, c.what, bytes);
  }
}

}  // namespace coset::detail
