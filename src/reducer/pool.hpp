// SPDX-License-Identifier: Apache-2.0
// Dense copies between one reducer and the next: reducers that are made for one loop, as clauses are, neither map pages
// nor fault them in, and find what their threads have in their caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "reducer/owned_copy.hpp"

namespace coset::reducer_room {

/// A copy of at least so many bytes, on this node if the system lets it: one that had this number before if there is one,
/// else any, else a new one. It holds anything, under a generation that is over.
std::unique_ptr<owned_copy> lend(std::size_t bytes, std::uint32_t number, std::optional<unsigned> on_node);

/// What lend() gave. Kept for the next up to most_kept_bytes in all, else given up.
void take_back(std::unique_ptr<owned_copy>) noexcept;

inline constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

}  // namespace coset::reducer_room
