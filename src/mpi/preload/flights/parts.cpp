// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/flights/parts.hpp"

#include <algorithm>
#include <cstring>

namespace coset::interpose {
namespace {

/// Of all ranks' pieces together; what processes share has room for it.
constexpr std::size_t most_bytes = 256 * 1024;

std::size_t ranks_of(prepared const& whole) { return static_cast<std::size_t>(whole.of->size()); }

std::size_t count_of(prepared const& whole, std::size_t rank) {
  return whole.counts.empty() ? whole.count : whole.counts[rank];
}

/// Rank by rank, as broadcasts or reductions, which go in segments as long as they like.
std::vector<part> piece_by_piece(prepared const& whole) {
  bool const gathers = detail::gives_pieces(whole.what);
  std::size_t const bytes = whole.how.bytes, own = coset_member_rank(whole.of->me());
  std::vector<part> parts;
  std::size_t at = 0;
  for (std::size_t r = 0; r < ranks_of(whole); at += count_of(whole, r++) * bytes) {
    team_call piece{whole.of,
                    gathers ? verb::broadcast : verb::reduce,
                    whole.in,
                    whole.out,
                    count_of(whole, r),
                    whole.how,
                    static_cast<std::uint32_t>(r)};
    if (gathers) {
      piece.out = static_cast<std::byte*>(whole.out) + at;
      if (r == own && whole.in != piece.out) std::memcpy(piece.out, whole.in, piece.count * bytes);
    } else {
      piece.in = static_cast<std::byte const*>(whole.in) + at;
    }
    parts.push_back({.call = std::move(piece)});
  }
  return parts;
}

/// Of each piece the next bytes, as many as have room.
std::vector<part> all_pieces_cut(prepared const& whole) {
  std::size_t longest_piece = whole.count;
  if (!whole.counts.empty()) longest_piece = std::ranges::max(whole.counts);
  std::size_t const at_once = std::max<std::size_t>(most_bytes / ranks_of(whole), 1);
  std::vector<part> parts;
  for (std::size_t begin = 0; begin < longest_piece; begin += at_once) {
    part& made = parts.emplace_back(part{.call = whole, .begin = begin, .longest = at_once});
    made.call.count = std::min(at_once, longest_piece - begin);
    for (std::size_t& count : made.call.counts) count = count > begin ? std::min(count - begin, at_once) : 0;
    // The first part alone says so; all processes have the same number of them, and no array ends before what is touched.
    if (whole.disagrees) {
      std::size_t& own = made.call.counts[coset_member_rank(whole.of->me())];
      own = begin == 0 && own == 0 ? 1 : 0;
    }
  }
  return parts;
}

/// Calls each(bytes before in the whole array, bytes before in the part's, bytes) for each rank's piece.
template <class Each>
void for_each_piece(part const& p, prepared const& whole, Each const& each) {
  std::size_t in_whole = 0, in_part = 0;
  for (std::size_t r = 0; r < ranks_of(whole); ++r) {
    std::size_t const bytes = p.call.counts.empty() ? p.call.count : p.call.counts[r];
    each(in_whole + p.begin, in_part, bytes);
    in_whole += count_of(whole, r);
    in_part += bytes;
  }
}

std::size_t bytes_of(part const& p, prepared const& whole) {
  std::size_t all = 0;
  for_each_piece(p, whole, [&](std::size_t, std::size_t, std::size_t bytes) { all += bytes; });
  return all;
}

bool is_root(prepared const& whole) { return coset_member_rank(whole.of->me()) == whole.root; }
bool has_rows_to_give(prepared const& whole) {
  return detail::gives(whole.what, is_root(whole)) == detail::share::whole;
}
bool gets_rows(prepared const& whole) { return detail::gets(whole.what, is_root(whole)) == detail::share::whole; }

}  // namespace

std::vector<part> parts_of(prepared& whole) {
  std::vector<part> one;
  if (whole.is_empty) {
    one.push_back({.call = whole});
    return one;
  }
  if (whole.tells_counts) {
    one.push_back({.call = whole.telling()});
    return one;
  }
  std::size_t total = 0;
  for (std::size_t r = 0; detail::is_of_pieces(whole.what) && r < ranks_of(whole); ++r) total += count_of(whole, r);
  if (total * whole.how.bytes > most_bytes && ranks_of(whole) > 1)
    return detail::is_half(whole.what) ? piece_by_piece(whole) : all_pieces_cut(whole);
  one.push_back({.call = whole.as_expected()});
  return one;
}

void fill_input(part& p, prepared const& whole) {
  if (p.longest == 0) return;
  auto const* const in = static_cast<std::byte const*>(whole.in);
  p.call.in = in + p.begin;
  if (has_rows_to_give(whole)) {
    p.in = room_of(bytes_of(p, whole));
    for_each_piece(p, whole, [&](std::size_t from, std::size_t to, std::size_t bytes) {
      std::memcpy(p.in.get() + to, in + from, bytes);
    });
    p.call.in = p.in.get();
  }
  if (gets_rows(whole)) p.out = room_of(bytes_of(p, whole));
  p.call.out = gets_rows(whole) ? p.out.get() : static_cast<std::byte*>(whole.out) + p.begin;
}

void put_output(part const& p, prepared const& whole) {
  if (p.out == nullptr) return;
  auto* const out = static_cast<std::byte*>(whole.out);
  for_each_piece(p, whole, [&](std::size_t to, std::size_t from, std::size_t bytes) {
    std::memcpy(out + to, p.out.get() + from, bytes);
  });
}

}  // namespace coset::interpose
