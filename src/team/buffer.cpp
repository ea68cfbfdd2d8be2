// SPDX-License-Identifier: Apache-2.0
// The pages of buffers: numa's memory, handed out in parts that a public header may know.
#include "coset/buffer.hpp"

#include <limits>

#include "base/text/format.hpp"
#include "numa/kinds.hpp"
#include "numa/memory.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

pages map_pages_on(unsigned node, memory_kind kind, std::size_t count, std::size_t element_bytes) {
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / element_bytes)
    throw argument_error(
        text::format("a buffer of {} elements of {} bytes exceeds the address space", count, element_bytes));
  numa::memory memory(count * element_bytes);
  std::size_t const bytes = memory.size();
  // What the system refuses is placed by first touch.
  if (!numa::bind(memory, 0, bytes, node, kind)) memory.prefer_huge_pages(0, bytes);
  return {memory.release(), {bytes}};
}

}  // namespace

void unmap::operator()(std::byte* data) const noexcept { (void)numa::memory::owning(data, bytes); }

pages map_pages(member const& owner, std::size_t count, std::size_t element_bytes, memory_kind kind) {
  numa::require_kind(kind);
  auto const asked = kind != memory_kind::automatic ? kind : owner.state().team.options.memory;
  return map_pages_on(owner.state().here.memory_node, numa::resolved(asked, memory_kind::high_bandwidth), count,
                      element_bytes);
}

pages map_pages(numa_node const& node, std::size_t count, std::size_t element_bytes) {
  return map_pages_on(node.os_index, memory_kind::standard, count, element_bytes);
}

}  // namespace coset::detail
