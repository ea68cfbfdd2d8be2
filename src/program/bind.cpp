// SPDX-License-Identifier: Apache-2.0
#include "program/bind.hpp"

#include <numeric>

namespace coset::program {
namespace {

constexpr std::size_t line_bytes = 64;

/// ⌊count · f⌋ without overflow for any count that fits memory and denominators to 2^16.
std::size_t scaled(std::size_t count, schedule::fraction f) {
  auto const numerator = static_cast<std::size_t>(f.numerator());
  auto const denominator = static_cast<std::size_t>(f.denominator());
  return count / denominator * numerator + count % denominator * numerator / denominator;
}

}  // namespace

layout bind(compiled const& c, std::size_t count, std::size_t element_bytes) {
  std::size_t const blocks = c.blocks.size();
  std::size_t const quantum = std::lcm(line_bytes, element_bytes) / element_bytes;  // elements between line borders
  layout l;
  bool const rounded = count * element_bytes / blocks > 4 * line_bytes;
  for (schedule::block const& b : c.blocks) {
    std::size_t const exact = scaled(count, b.offset);
    l.boundary.push_back(rounded ? exact / quantum * quantum : exact);
  }
  l.boundary.push_back(count);
  // Within an entry line there is room for the layers only side by side.
  std::size_t const layer_bytes = c.storage.staging == home::pieces ? (count * element_bytes + line_bytes - 1) / line_bytes * line_bytes
                                                                    : count * element_bytes;
  for (std::size_t layer = 0; layer < std::max<std::size_t>(c.layers, 1); ++layer) {
    for (std::size_t b = 0; b < blocks; ++b) l.offset.push_back(layer * layer_bytes + l.boundary[b] * element_bytes);
  }
  l.staging_bytes = c.storage.staging == home::pieces ? c.layers * layer_bytes : 0;
  return l;
}

}  // namespace coset::program
