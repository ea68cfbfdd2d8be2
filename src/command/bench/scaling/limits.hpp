// SPDX-License-Identifier: Apache-2.0
// What limits a measured point: its time beside what parts of it take by themselves on the same processors. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coset/topology.hpp"

namespace coset::cli {

enum class limit : std::uint8_t {
  turns,          ///< ranks take turns on processors
  flags,          ///< latency: ranks learn that others have come
  own_work,       ///< of a cycle: ranks write their inputs and read their results, in caches
  caches,         ///< the bandwidth of caches for the bytes that the verb has to move
  handing_over,   ///< lines that another core has just written
  memory,         ///< the bandwidth of memory
  between_nodes,  ///< the bandwidth of the links between nodes
  other           ///< what is left over is longer than any part that was measured
};
inline constexpr std::uint8_t limits = 8;
std::string_view name_of(limit) noexcept;

/// Where all inputs and results of a point lie together.
enum class level : std::uint8_t { own_cache, shared_cache, memory };
std::string_view name_of(level) noexcept;

/// ns. What does not apply is 0. Each part was measured alone, so together they may come to more than the whole.
struct limit_parts {
  double time = 0;           ///< the point's
  double flags = 0;          ///< one round of flags
  double own_work = 0;       ///< what ranks do in a cycle beside the collective
  double moving = 0;         ///< the least bytes of the verb, at the rate of folds on the same ranks, sizes and memory
  double handing_over = 0;   ///< the bytes that a rank has of others, at the rate of reads from each other's caches
  double between_nodes = 0;  ///< the bytes that cross, at the rate of the nodes' links
  level where = level::memory;
  bool share_processors = false;
};

struct limit_found {
  limit by = limit::other;
  double share = 0;   ///< of the time, 1 at most
  std::string words;  ///< "memory bandwidth of node 0: …"
};

/// `nodes`, "node 0", is for the words.
limit_found limit_of(limit_parts const&, std::string_view nodes);

/// Of ranks with so many bytes of input and result each, `ranks_of_cache` of them at one last-level cache.
struct cache_sizes {
  double own = 0;     ///< a core's second level; 0: unknown
  double shared = 0;  ///< one of the last level; 0: unknown
};
level level_of(double bytes_of_rank, double ranks_of_cache, cache_sizes const&);
cache_sizes cache_sizes_of(topology const&);

}  // namespace coset::cli
