// SPDX-License-Identifier: Apache-2.0
// How src/runtime/failure/coset.py finds the teams of a process, or of a core file: by the address of one variable, without types.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "coset/error.hpp"

namespace coset::runtime {

struct own_line;
struct shared_memory;

/// One team's lines, in its memory. All words of 64 bits, in this order.
struct team_for_debuggers {
  struct rank_place {
    own_line const* line;                    ///< in this team
    own_line const* of_its_thread;           ///< in its thread's own team, or in the team that this one was split from
    std::atomic<std::uint32_t> const* left;  ///< the round that it has left last
  };
  team_for_debuggers* next;
  std::uint64_t total, first, ranks, one_process;
  std::atomic<std::uint32_t> const* round;
  rank_place const* places;
};

/// Is on the list for as long as it lives. Takes a lock.
class shown_to_debuggers {
 public:
  explicit shown_to_debuggers(shared_memory const&);
  ~shown_to_debuggers();
  shown_to_debuggers(shown_to_debuggers const&) = delete;
  shown_to_debuggers& operator=(shown_to_debuggers const&) = delete;

 private:
  std::vector<team_for_debuggers::rank_place> places_;
  team_for_debuggers team_;
};

}  // namespace coset::runtime
