// SPDX-License-Identifier: Apache-2.0
// Memory of dense copies between one reducer and the next: reducers that are made for one loop, as clauses are, neither
// map pages nor fault them in.
#pragma once

#include <cstddef>
#include <optional>

#include "numa/memory.hpp"
#include "reducer/owned_copy.hpp"

namespace coset::reducer_room {

/// At least so many bytes, on this node if the system lets it. What they hold is anything.
numa::memory lend(std::size_t bytes, std::optional<unsigned> on_node);

/// All copies of a dense reducer that is no more, each of at least so many bytes; or none. They hold anything, under
/// generations that are over. Their threads have them in their caches, maybe.
copy_set lend_copies(std::size_t bytes) noexcept;
/// Kept for the next reducer of about so many bytes, as memory is.
void take_back(copy_set&&, std::size_t bytes) noexcept;

/// What lend() gave. Kept for the next up to most_kept_bytes in all, else given up.
void take_back(numa::memory, std::optional<unsigned> of_node) noexcept;

inline constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

}  // namespace coset::reducer_room
