// SPDX-License-Identifier: Apache-2.0
// all_to_all of pieces of any length: ranks tell each other where the pieces lie, and each copies what is its own.
#include <algorithm>
#include <cassert>
#include <vector>

#include "base/text/format.hpp"
#include "coset/operations.hpp"
#include "planning/plan/binding.hpp"
#include "runtime/calls/checks.hpp"
#include "runtime/calls/exchange.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/rank_state.hpp"
#include "runtime/requests.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

using runtime::exchange_memory;
using runtime::piece_notice;

/// Whoever calls something else is told of pieces, whatever they are copied as.
template <class Copied>
reduction_table const& table_of_pieces() {
  static reduction_table const table = [] {
    reduction_table named = copy_of<Copied>();
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
          .reduction = &table_of_pieces<piece_notice>()};
}

/// Asks what the others have for this rank, and tells them what it has for them.
void tell(rank_state& me, call const& c) {
  exchange_memory& pieces = *me.memory.exchanged;
  pieces.told.clear();
  for (rank_t r = 0; r < c.counts.size(); ++r)
    pieces.told.push_back(
        {reinterpret_cast<std::uintptr_t>(pieces.in) + pieces.sent_at[r], c.counts[r], c.reduction->hash});
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

/// Each rank begins with its own piece and goes down from there, so that not all read from one. Sources are addresses, counted from
/// what are others' inputs to the program, so that traces tell whose memory is read.
void fetch(rank_state& me) {
  exchange_memory& pieces = *me.memory.exchanged;
  rank_t const ranks = me.shared.size();
  if (!pieces.fetching) {
    bound_plan const& barrier = me.plans.plan_for(meeting(), false, me.number == 0);
    pieces.fetching = planning::bind_fetching(barrier, me.rank, ranks, table_of_pieces<std::byte>());
  }
  program::layout& to = pieces.fetching->segments.last_layout;
  std::size_t *const sources = to.offset.data() + to.offset.size() - 2 * ranks, *const destinations = sources + ranks;
  std::size_t* const begins = to.boundary.data() + to.boundary.size() - ranks - 1;
  for (rank_t k = 0; k < ranks; ++k) {
    rank_t const o = (me.number + ranks - k) % ranks;
    me.ends[0].bases[program::row_input * ranks + o] = nullptr;
    sources[k] = pieces.heard[o].at;
    destinations[k] = pieces.received_at[o];
    begins[k + 1] = begins[k] + pieces.received_at[o + 1] - pieces.received_at[o];
  }
  runtime::flight f;
  runtime::prepare(f, me, 0, *pieces.fetching, nullptr, pieces.out, nullptr);
  runtime::complete(me, f);
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
  exchange_by_messages(me, me.plans.plan_for(telling(me), false, false));
}

}  // namespace

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
