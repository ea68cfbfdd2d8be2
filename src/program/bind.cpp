// SPDX-License-Identifier: Apache-2.0
#include "program/bind.hpp"

#include <numeric>

namespace coset::program {
namespace {

/// ⌊count · f⌋ without overflow for any count that fits memory and denominators to 2^16.
std::size_t scaled(std::size_t count, schedule::fraction f) {
  auto const numerator = static_cast<std::size_t>(f.numerator());
  auto const denominator = static_cast<std::size_t>(f.denominator());
  return count / denominator * numerator + count % denominator * numerator / denominator;
}

/// Offsets and staging, once the boundaries are known.
void place_layers(layout& l, compiled const& c, item_bytes items) {
  std::size_t const staged = items.staged(c), bytes = l.boundary.back() * staged;
  // Within an entry line there is room for the layers only side by side.
  bool const apart = c.storage.staging == home::pieces;
  std::size_t const layer_bytes = apart ? (bytes + line_bytes - 1) / line_bytes * line_bytes : bytes;
  for (std::size_t b = 0; b < c.blocks.size(); ++b) l.offset.push_back(l.boundary[b] * items.element);
  for (std::size_t layer = 0; layer < c.layers; ++layer) {
    for (std::size_t b = 0; b < c.blocks.size(); ++b) l.offset.push_back(layer * layer_bytes + l.boundary[b] * staged);
  }
  l.staging_bytes = apart ? c.layers * layer_bytes : 0;
}

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
  place_layers(l, c, items);
  return l;
}

layout bind(compiled const& c, rank_pieces const& pieces, item_bytes items) {
  layout l;
  for (schedule::block const& b : c.blocks) {
    schedule::fraction const at = b.offset * c.ranks;
    auto const r = static_cast<std::size_t>(at.floor());
    l.boundary.push_back(pieces.begin(r) + scaled(pieces.end(r) - pieces.begin(r), at - at.floor()));
  }
  l.boundary.push_back(pieces.total());
  place_layers(l, c, items);
  return l;
}

}  // namespace coset::program
