// SPDX-License-Identifier: Apache-2.0
// Dense copies kept from one reducer to the next: a reducer made for one loop, like a clause, neither maps pages nor
// faults them in, and finds copies in its threads' caches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "reducer/owned_copy.hpp"

namespace coset::reducer_room {

/// Where a set belongs.
struct copies_home {
  std::optional<unsigned> made_on;  ///< the node
  memory_kind kind = memory_kind::standard;
  bool operator==(copies_home const&) const = default;
};

/// Copies of one size, which pass from one reducer to the next together, so that each thread finds its own without asking the
/// process. Their contents are arbitrary, under past generations.
class copy_set {
 public:
  /// For copies of at least so many bytes: what an earlier reducer, made on the same node, has left of this kind of memory,
  /// or nothing yet.
  explicit copy_set(std::size_t bytes, memory_kind = memory_kind::automatic);
  /// Leaves what has been given back to later reducers.
  ~copy_set() { leave_idle(); }
  copy_set(copy_set const&) = delete;
  copy_set& operator=(copy_set const&) = delete;

  /// One that had this number before if there is one, else any that lies on this node; if none is left one of another set, else a new
  /// one there.
  std::unique_ptr<owned_copy> lend(std::uint32_t number, std::optional<unsigned> on_node);
  void take_back(std::unique_ptr<owned_copy>) noexcept;
  /// To other reducers, as this one may live on without them. Who asks whether there are any holds no lock: another thread may be
  /// asking for its copy.
  bool has_idle() const noexcept { return has_idle_.load(std::memory_order_relaxed); }
  void leave_idle() noexcept;

 private:
  void note_idle() noexcept { has_idle_.store(!idle_.empty(), std::memory_order_relaxed); }

  std::size_t bytes_;
  copies_home home_;
  std::vector<std::unique_ptr<owned_copy>> idle_;
  std::atomic<bool> has_idle_{!idle_.empty()};
};

/// Sets that no reducer has hold so many bytes at most.
inline constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

}  // namespace coset::reducer_room
