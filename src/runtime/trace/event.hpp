// SPDX-License-Identifier: Apache-2.0
// One thing that a rank has done, as it is written down: one cache line.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "coset/error.hpp"

namespace coset::trace {

/// `hand_over` and `combine`: what MPI reduces by itself, given to it and awaited.
enum class kind : std::uint8_t { operation, wait, fold, copy, post, send, receive, hand_over, combine };
inline constexpr std::array<std::string_view, 9> kind_names{"operation", "wait",    "fold",      "copy",   "post",
                                                            "send",      "receive", "hand over", "combine"};

/// Ranks that moved data between them share this, as far as their team knows.
enum class level : std::uint8_t { cache, node, host, unknown_place, messages };
inline constexpr std::array<std::string_view, 5> level_names{"same cache", "same node", "between nodes",
                                                             "same host, places unknown", "by messages"};

/// The awaited signal of a wait until a rank has left an operation of before.
inline constexpr std::uint32_t has_left = 0;

struct event {
  struct operation {
    std::uint64_t tag;         ///< the same on all its ranks
    std::uint32_t number;      ///< among those of its rank in its team
    std::uint32_t plan : 31;   ///< see plan_words
    std::uint32_t failed : 1;  ///< it, or the wait in it, ended by an exception
  };
  struct volume {
    std::uint64_t bytes;  ///< of each array; of the message
    std::uint64_t moved;  ///< bytes from and to other ranks' memory
  };

  std::uint64_t begin, end;  ///< numa::ticks(), or ns where a log has it
  operation of;
  volume data;
  rank_t peer;  ///< awaited, sent to, or the only other rank that it touches; else nobody. As its number is in the
                ///< team that this one was split from; of a post: the rank itself
  std::uint32_t signal;  ///< posted or awaited; 1: entry
  std::uint16_t step;    ///< of the schedule, from 1; 0: before it
  std::uint16_t sources;
  std::uint16_t team : 15;
  std::uint16_t joint : 1;  ///< the team has ranks of several processes
  std::uint8_t channel;     ///< 0: of a blocking call
  kind what;
  static constexpr rank_t nobody = UINT32_MAX;
};
static_assert(sizeof(event) == 64);

}  // namespace coset::trace
