// SPDX-License-Identifier: Apache-2.0
#include "planning/program/bind.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace coset::program {
namespace {

/// ⌊count · f⌋ without overflow for any count that fits memory and denominators to 2^16.
std::size_t scaled(std::size_t count, schedule::fraction f) {
  auto const numerator = static_cast<std::size_t>(f.numerator());
  auto const denominator = static_cast<std::size_t>(f.denominator());
  return count / denominator * numerator + count % denominator * numerator / denominator;
}

/// Where blocks begin, in elements, if the caller says which elements are whose: in `whole` the pieces begin, of which this
/// many elements are meant.
std::vector<std::size_t> begins_of(compiled const& c, rank_pieces const& whole, rank_pieces const& meant) {
  std::vector<std::size_t> begins;
  for (schedule::block const& b : c.blocks) {
    schedule::fraction const at = b.offset * c.ranks;
    auto const r = static_cast<std::size_t>(at.floor());
    begins.push_back(whole.begin(r) + scaled(meant.end(r) - meant.begin(r), at - at.floor()));
  }
  begins.push_back(meant.total());
  return begins;
}

std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// What any block needs of staging, so that it may lie where any other does; 0 where blocks are not exchanged, or differ by more than
/// rounding makes them, so that staging would have to be much larger.
std::size_t room_to_exchange(layout const& l, compiled const& c, std::size_t item_bytes) {
  std::size_t longest = 0;
  for (std::size_t b = 0; c.storage.exchanges && b < c.blocks.size(); ++b)
    longest = std::max(longest, l.boundary[b + 1] - l.boundary[b]);
  std::size_t const room = whole_lines(longest * item_bytes);
  return room * c.blocks.size() <= 2 * whole_lines(l.boundary.back() * item_bytes) ? room : 0;
}

/// Offsets and staging, once it is known where blocks begin in arrays, and what boundaries they have.
void place_layers(layout& l, compiled const& c, item_bytes items, std::vector<std::size_t> const& in_arrays) {
  std::size_t const staged = items.staged(c), bytes = l.boundary.back() * staged;
  // Within an entry line there is room for the layers only side by side.
  bool const apart = c.storage.staging == home::pieces;
  std::size_t const room = room_to_exchange(l, c, staged);
  l.exchanges = room != 0;
  std::size_t const layer_bytes = l.exchanges ? room * c.blocks.size() : apart ? whole_lines(bytes) : bytes;
  for (std::size_t b = 0; b < c.blocks.size(); ++b) l.offset.push_back(in_arrays[b] * items.element);
  for (std::size_t layer = 0; layer < c.layers; ++layer) {
    for (std::size_t b = 0; b < c.blocks.size(); ++b)
      l.offset.push_back(layer * layer_bytes + (l.exchanges ? b * room : l.boundary[b] * staged));
  }
  l.staging_bytes = apart ? c.layers * layer_bytes : 0;
}

bool folds(instruction const& i) { return i.destinations != 0; }

}  // namespace

layout bind(compiled const& c, std::size_t count, item_bytes items) {
  std::size_t const quantum = std::lcm(line_bytes, items.element) / items.element;  // elements between line borders
  bool const rounded = count / c.grain > 4 * quantum;
  layout l;
  for (schedule::block const& b : c.blocks) {
    std::size_t const exact = scaled(count, b.offset);
    l.boundary.push_back(rounded ? exact / quantum * quantum : exact);
  }
  l.boundary.push_back(count);
  place_layers(l, c, items, l.boundary);
  return l;
}

layout bind(compiled const& c, rank_pieces const& pieces, item_bytes items) {
  return bind_segment(c, pieces, pieces, items);
}

layout bind_segment(compiled const& c, rank_pieces const& in_arrays, rank_pieces const& segments, item_bytes items) {
  layout l;
  l.boundary = begins_of(c, segments, segments);
  place_layers(l, c, items, begins_of(c, in_arrays, segments));
  return l;
}

bool is_worth_exchanging(compiled const& c, std::size_t bytes, std::size_t most) {
  bool const has_room = c.layers == 0 || bytes <= most / c.layers / 2;
  return c.storage.staging == home::pieces && !c.storage.returns && has_room &&
         bytes >= c.blocks.size() * least_exchanged;
}

bool can_be_cut_by_piece(compiled const& c) {
  auto const piece_of = [&c](std::uint32_t block) { return (c.blocks[block].offset * c.ranks).floor(); };
  auto const is_of_one = [&](instruction const& i) {
    return i.what == action::fold && (i.block_end <= i.block || piece_of(i.block) == piece_of(i.block_end - 1));
  };
  return std::ranges::all_of(c.of, [&](program const& p) { return std::ranges::all_of(p.code, is_of_one); });
}

instruction const& only_fold(program const& p) { return *std::ranges::find_if(p.code, folds); }

bool can_share_folds(compiled const& c) {
  return c.all_meet && std::ranges::all_of(c.of, [&](program const& p) {
           if (std::ranges::count_if(p.code, folds) != 1) return false;
           instruction const& fold = only_fold(p);
           bool const is_plain = fold.foreign && !fold.mixed && fold.what == action::fold;
           auto const awaited = std::span(p.waits).first(fold.waits_end);
           auto const met = std::ranges::count_if(awaited, [](wait const& w) { return w.signal == entry_signal; });
           return is_plain && met + 1 == static_cast<std::ptrdiff_t>(c.ranks);
         });
}

}  // namespace coset::program
