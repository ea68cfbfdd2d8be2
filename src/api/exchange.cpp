// SPDX-License-Identifier: Apache-2.0
// all_to_all of pieces of any length: ranks tell each other where the pieces lie, and each copies what is its own.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "api/checks.hpp"
#include "api/exchange.hpp"
#include "choice/choose.hpp"
#include "coset/operations.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/busy_mark.hpp"
#include "team/team_state.hpp"
#include "text/format.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

/// What one rank tells another of the piece that it has for it.
struct piece_notice {
  std::byte const* at;  ///< means something to ranks of one process only
  std::uint64_t count;
  std::uint64_t type;
};

/// All pieces of one rank, one after the other.
struct row_of_pieces {
  std::byte* first;
  std::size_t element_bytes;
  std::span<std::size_t const> counts;

  /// Of the pieces of ranks below this one.
  std::size_t bytes_before(rank_t r) const {
    return std::accumulate(counts.begin(), counts.begin() + r, std::size_t{0}) * element_bytes;
  }
  std::size_t bytes() const { return bytes_before(static_cast<rank_t>(counts.size())); }
  /// Calls visit(rank, begin of its piece, bytes).
  template <class Visit>
  void for_each(Visit visit) const {
    std::byte* at = first;
    for (rank_t r = 0; r < counts.size(); ++r) {
      std::size_t const bytes = counts[r] * element_bytes;
      visit(r, at, bytes);
      if (bytes != 0) at += bytes;  // of nothing there may be no array
    }
  }
};

/// Whoever calls something else is told of pieces, not of notices.
reduction_table const& table_of_notices() {
  static reduction_table const table = [] {
    reduction_table named = copy_of<piece_notice>();
    named.type = "pieces of any length";
    return named;
  }();
  return table;
}

/// What the others tell. It is kept for the thread's next call, which allocates nothing then.
std::vector<piece_notice> const& tell(rank_state& me, row_of_pieces const& given, std::uint64_t type) {
  thread_local std::vector<piece_notice> told, heard;
  told.clear();
  given.for_each([&](rank_t r, std::byte* at, std::size_t) { told.push_back({at, given.counts[r], type}); });
  heard.resize(told.size());
  run(me, {.what = verb::all_to_all,
           .in = told.data(),
           .out = heard.data(),
           .count = told.size(),
           .reduction = &table_of_notices()});
  return heard;
}

/// Who finds another length than it expects tells all.
void require_expected(rank_state& me, std::vector<piece_notice> const& heard, std::span<std::size_t const> expected,
                      reduction_table const& elements) {
  for (rank_t o = 0; o < heard.size(); ++o) {
    if (heard[o].count != expected[o])
      refuse(me, text::format("all_to_all: rank {} sends {} elements to rank {}, which expects {}", o, heard[o].count,
                              me.number, expected[o]));
    if (heard[o].type != elements.hash)
      refuse(me, text::format("all_to_all: rank {} sends other elements to rank {} than {}, which that expects", o,
                              me.number, elements.type));
  }
}

/// Its owner waits at the barrier; if it leaves by an error before, it waits for ranks that are busy.
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

/// Each rank begins with its own piece and goes down from there, so that not all read from one.
void fetch(rank_state& me, std::vector<piece_notice> const& heard, row_of_pieces const& got) {
  std::size_t end = got.bytes_before(me.number + 1);
  for (rank_t o = me.number, left = me.shared.size(); left > 0; --left) {
    std::size_t const bytes = got.counts[o] * got.element_bytes;
    end -= bytes;
    copy_foreign(me, got.first + end, heard[o].at, bytes);
    if (o == 0) {
      o = me.shared.size();
      end = got.bytes();
    }
    --o;
  }
  run(me, {.what = verb::barrier, .reduction = &copy_of<char>()});
}

/// Where ranks reach no arrays of others: all pieces are as long as the longest.
void send_padded(rank_state& me, call const& c, row_of_pieces const& given, row_of_pieces const& got) {
  std::uint64_t longest = 0;
  for (std::size_t const count : given.counts) longest = std::max<std::uint64_t>(longest, count);
  maximum const operation;
  run(me, {.what = verb::allreduce,
           .in = &longest,
           .out = &longest,
           .count = 1,
           .reduction = &table_of<std::uint64_t, maximum>(),
           .operation = &operation});
  std::size_t const each = longest * given.element_bytes;
  std::vector<std::byte> packed(each * me.shared.size()), received(packed.size());
  given.for_each([&](rank_t r, std::byte* at, std::size_t bytes) {
    if (bytes != 0) std::memcpy(&packed[r * each], at, bytes);
  });
  call padded{.what = verb::all_to_all, .in = packed.data(), .out = received.data(), .reduction = c.reduction};
  padded.count = longest * me.shared.size();
  run(me, padded);
  got.for_each([&](rank_t r, std::byte* at, std::size_t bytes) {
    if (bytes != 0) std::memcpy(at, &received[r * each], bytes);
  });
}

std::size_t longest_piece(rank_state& me, call const& c) {
  return c.counts.empty() ? c.count / me.shared.size() : *std::ranges::max_element(c.counts);
}

}  // namespace

void run_exchange(rank_state& me, call const& c, std::span<std::size_t const> received) {
  row_of_pieces const given{static_cast<std::byte*>(const_cast<void*>(c.in)), c.reduction->element_bytes, c.counts};
  row_of_pieces const got{static_cast<std::byte*>(c.out), c.reduction->element_bytes, received};
  std::size_t const bytes = given.bytes(), other_bytes = got.bytes();
  require_array(me, c.what, given.first, bytes, "input");
  require_array(me, c.what, got.first, other_bytes, "output");
  bool const apart = given.first + bytes <= got.first || got.first + other_bytes <= given.first;
  if (bytes != 0 && other_bytes != 0 && !apart)
    refuse(me, text::format("all_to_all: input and output of rank {} overlap", me.number));
  auto const& heard = tell(me, given, c.reduction->hash);
  require_expected(me, heard, received, *c.reduction);
  if (me.shared.kind.one_memory())
    fetch(me, heard, got);
  else
    send_padded(me, c, given, got);
}

bool can_be_halved(rank_state& me, call const& c) { return choice::goes_straight(c.what) && longest_piece(me, c) > 1; }

void run_in_halves(rank_state& me, call const& c) {
  rank_t const ranks = me.shared.size();
  std::size_t const bytes = c.reduction->element_bytes, longest = longest_piece(me, c), half = (longest + 1) / 2;
  bool const has_rows_in = me.number == c.root || c.what == verb::all_to_all;
  bool const gives_row = c.what != verb::gather && has_rows_in, gets_row = c.what != verb::scatter && has_rows_in;
  std::vector<std::size_t> const whole = c.counts.empty() ? std::vector<std::size_t>(ranks, longest)
                                                          : std::vector<std::size_t>(c.counts.begin(), c.counts.end());
  std::vector<std::byte> in, out;
  for (std::size_t done = 0; done < longest; done += half) {
    std::vector<std::size_t> part;
    std::size_t all = 0;
    for (std::size_t const count : whole) all += part.emplace_back(std::min(half, count - std::min(count, done)));
    in.resize(gives_row ? all * bytes : 0);
    out.resize(gets_row ? all * bytes : 0);
    /// Calls visit(place in the caller's array, place in the packed one, bytes).
    auto const for_each = [&](void const* array, std::vector<std::byte>& packed, auto visit) {
      std::byte* at = packed.data();
      row_of_pieces{static_cast<std::byte*>(const_cast<void*>(array)), bytes, whole}.for_each(
          [&](rank_t r, std::byte* piece, std::size_t) {
            if (part[r] == 0) return;
            visit(piece + done * bytes, at, part[r] * bytes);
            at += part[r] * bytes;
          });
    };
    if (gives_row)
      for_each(c.in, in, [](std::byte* piece, std::byte* at, std::size_t n) { std::memcpy(at, piece, n); });
    call next = c;
    next.count = all;
    next.counts = part;
    if (c.counts.empty()) next.counts = {};
    next.in = gives_row ? in.data() : c.in == nullptr ? nullptr : static_cast<std::byte const*>(c.in) + done * bytes;
    next.out = gets_row ? out.data() : c.out == nullptr ? nullptr : static_cast<std::byte*>(c.out) + done * bytes;
    run(me, next);
    if (gets_row)
      for_each(c.out, out, [](std::byte* piece, std::byte* at, std::size_t n) { std::memcpy(piece, at, n); });
  }
}

}  // namespace coset::inline COSET_ABI::detail
