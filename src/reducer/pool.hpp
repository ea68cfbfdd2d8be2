// SPDX-License-Identifier: Apache-2.0
// Dense copies kept from one reducer to the next: a reducer made for one loop, like a clause, neither maps pages nor
// faults them in, and finds copies in its threads' caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "reducer/owned_copy.hpp"

namespace coset::reducer_room {

/// A copy of at least so many bytes, on this node if the system allows it: one that had this number before if there is
/// one, else any, else a new one. Its contents are arbitrary, under a past generation.
std::unique_ptr<owned_copy> lend(std::size_t bytes, std::uint32_t number, std::optional<unsigned> on_node);

/// Takes back what lend() gave. Keeps up to most_kept_bytes in all for later reducers, frees the rest.
void take_back(std::unique_ptr<owned_copy>) noexcept;

inline constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

}  // namespace coset::reducer_room
