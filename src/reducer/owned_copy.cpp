// SPDX-License-Identifier: Apache-2.0
#include "reducer/owned_copy.hpp"

#include <utility>

namespace coset::reducer_room {

using detail::mark;

owned_copy::owned_copy(std::size_t bytes, std::optional<unsigned> on_node) : node(on_node), memory(bytes) {
  data = memory.data();
  if (!node || !memory.bind(0, bytes, *node)) memory.prefer_huge_pages(0, bytes);
}

owned_copy::owned_copy(std::optional<unsigned> on_node) : node(on_node) {}

owned_copy::~owned_copy() = default;

void owned_copy::give_memory(blocks const& shape, bool capped) {
  std::size_t const marks = round_up(shape.begin_bytes(shape.number()), line_bytes);
  std::size_t const behind = marks + round_up(shape.number() + 1, word_blocks);
  numa::memory fresh(behind + round_up(shape.groups() + 1, word_blocks));
  if (capped) {
    resident.resize(shape.number());
  } else if (!node || !fresh.bind(0, fresh.size(), *node)) {
    fresh.prefer_huge_pages(0, fresh.size());
  }
  memory = std::move(fresh);
  data = memory.data();
  touched = reinterpret_cast<mark*>(data + marks);
  groups = reinterpret_cast<mark*>(data + behind);
}

}  // namespace coset::reducer_room
