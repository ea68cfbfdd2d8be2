// SPDX-License-Identifier: Apache-2.0
#include "reducer/owned_copy.hpp"

#include <utility>

namespace coset::reducer_room {

using detail::mark;

owned_copy::owned_copy(std::size_t bytes, std::optional<unsigned> on_node, memory_kind wanted)
    : node(on_node), kind(wanted), memory(bytes) {
  data = memory.data();
  if (!bind(memory)) memory.prefer_huge_pages(0, bytes);
}

owned_copy::owned_copy(std::optional<unsigned> on_node, memory_kind wanted) : node(on_node), kind(wanted) {}

bool owned_copy::bind(numa::memory& fresh) const noexcept {
  return numa::bind(fresh, 0, fresh.size(), node.value_or(numa::any_node), kind);
}

owned_copy::~owned_copy() = default;

void owned_copy::give_memory(blocks const& shape, bool capped) {
  std::size_t const marks = round_up(shape.begin_bytes(shape.number()), line_bytes);
  std::size_t const behind = marks + round_up(shape.number() + 1, word_blocks);
  numa::memory fresh(behind + round_up(shape.groups() + 1, word_blocks));
  if (capped) {
    resident.resize(shape.number());
  } else if (!bind(fresh)) {
    fresh.prefer_huge_pages(0, fresh.size());
  }
  memory = std::move(fresh);
  data = memory.data();
  touched = reinterpret_cast<mark*>(data + marks);
  groups = reinterpret_cast<mark*>(data + behind);
}

}  // namespace coset::reducer_room
