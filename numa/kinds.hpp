// SPDX-License-Identifier: Apache-2.0
// Memory of the kind that is wanted, on this machine.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "coset/topology.hpp"
#include "numa/memory.hpp"

namespace coset::numa {

/// What COSET_MEMORY takes, in the order of the kinds that follow `automatic`.
inline constexpr std::array<std::string_view, 4> names_of_kinds{"standard", "low_latency", "high_bandwidth",
                                                                "large_capacity"};

/// In the order of the tiers.
inline constexpr std::array<std::string_view, 4> names_of_tiers{"ordinary", "fast", "slow", "device"};

/// Throws argument_error with the number if there is no such kind.
void require_kind(memory_kind);

/// Any thread may call what follows. Where a machine has ordinary memory alone each takes nanoseconds, but for the process's
/// first such call, which reads two small files; elsewhere that one takes some ms, as hwloc looks at the machine.

/// Whether some memory is not ordinary.
bool has_several_tiers(topology const&) noexcept;

/// This machine if it has memory of several tiers, else null.
topology const* machine_of_several_tiers() noexcept;

/// `asked`, or instead of automatic what COSET_MEMORY says, or `otherwise`. Where memory is all alike, standard.
memory_kind resolved(memory_kind asked, memory_kind otherwise) noexcept;

/// For processors of the node with this OS index, or `any_node`, the memory of this kind with room for so many bytes at this
/// moment. What others have bound and not yet touched counts as room; if it comes to that, neighbours of the full memory
/// provide the rest. Cost: on machines of several tiers a file of some hundred bytes for each memory that is looked at.
inline constexpr unsigned any_node = ~0u;
unsigned memory_for(unsigned node, memory_kind, std::size_t bytes) noexcept;

/// Binds a part of `where` there, as memory::bind() does; false, too, if `node` is any_node and that leaves a choice.
bool bind(memory& where, std::size_t offset, std::size_t bytes, unsigned node, memory_kind) noexcept;

}  // namespace coset::numa
