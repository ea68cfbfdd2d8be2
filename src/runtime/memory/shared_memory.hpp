// SPDX-License-Identifier: Apache-2.0
// What the ranks of a team have in common while operations run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include "numa/memory.hpp"
#include "numa/process/fork.hpp"
#include "planning/program/program.hpp"
#include "runtime/failure/failure.hpp"
#include "runtime/failure/for_debuggers.hpp"
#include "runtime/memory/arena.hpp"
#include "runtime/memory/shared_file.hpp"
#include "runtime/memory/waiting.hpp"
#include "runtime/modes/floating_point_mode.hpp"

namespace coset::inline COSET_ABI::detail {
struct rank_state;
}

namespace coset::runtime {

class transport;
struct shared_memory;

/// What kind of team this is.
struct capabilities {
  bool one_process = true;     ///< pointers of one rank mean the same to all, and staging may grow
  bool has_messages = false;   ///< some ranks share no memory with these, or their arrays: messages join them
  bool ranks_may_wait = true;  ///< they are threads or processes, not tasks that one thread may take in turn
  bool crowded = false;        ///< ranks take turns on processors, or their rounds cost as much
  bool plain_signals = true;   ///< a signal is a plain store, since sleepers pay; else an exchange

  /// Views and split teams need one memory for all ranks.
  bool one_memory() const { return one_process && !has_messages; }
};

/// The ranks of a team that share this memory, among all that it has.
struct domain {
  rank_t total = 0;  ///< ranks of the whole team
  rank_t first = 0;  ///< number of this domain's first
  program::distribution spread = {};
  transport* messages = nullptr;            ///< null where nothing joins processes
  bool pointers = true;                     ///< in every domain ranks reach each other's arrays
  bool crowded = false;                     ///< some host has fewer processors than ranks
  std::size_t most_staging = SIZE_MAX;      ///< per rank, parity and channel, in every domain
  passing passed = passing::by_descriptor;  ///< how this domain's processes came by memory, and parts of it will
  std::uint64_t own_cache_bytes =
      0;  ///< that each core of this domain has for itself, as all its ranks know it; 0: unknown
  std::optional<floating_point_mode> mode =
      {};  ///< on which processes have agreed; else the whole team's, or the maker's
};

/// The number of generations so far, and the marks that distinguish this generation's operations from older ones.
struct generation_marks {
  std::uint32_t generation = 0;    ///< of this process; 0 before the first, never afterwards
  std::uint32_t shared_round = 1;  ///< which processes have agreed on, where ranks of several belong to the team
  std::uint32_t failures = 0;      ///< generations of this process that have failed
  std::uint32_t salt = 0;          ///< where the history of this generation's operations begins
  std::atomic<std::uint32_t> told_round = 0;  ///< shared_memory::round(), for threads that are no ranks; 0: none yet
  std::uint32_t team = 0;                     ///< the team's number in a trace of this process, where one is wanted
};

/// The teams that a team's ranks belong to besides, and which of their ranks these are.
struct descent {
  shared_memory* root = nullptr;    ///< of the threads; null: this team is its own
  shared_memory* origin = nullptr;  ///< of the team that this one was split from at first; null: it is none
  std::vector<rank_t> in_root;
  std::vector<rank_t> in_origin = {};  ///< where processes share this memory
};

struct shared_memory {
  /// `own_memory`: this process's mapping of what processes share, zeroed before the first came, or empty.
  shared_memory(descent, capabilities, waiting, node_list const& nodes, numa::memory&& own_memory, domain const&,
                memory_kind staging);

  /// The whole team's size, where ranks of other domains count.
  rank_t size() const noexcept { return part.total; }
  /// The last round that a rank has left.
  std::atomic<std::uint32_t>& left(rank_t rank) const noexcept {
    if (kind.one_process) return root.arena.attention(root_ranks[rank]).left;
    return origin.arena.attention(is_origin() ? rank : origin_ranks[rank]).left;
  }
  /// This generation's number, on which the ranks of all processes agree.
  std::uint32_t round() const noexcept { return kind.one_process ? marks.generation : origin.marks.shared_round; }
  /// Whether these ranks reach each other's arrays, as they are of one process.
  bool in_one_process(rank_t a, rank_t b) const;
  floating_point_mode const& mode() const noexcept { return *part.mode; }
  bool is_origin() const noexcept { return &origin == this; }
  bool failed() const noexcept { return failure.recorded() || (&root != this && root.failure.recorded()); }
  /// False in a forked child: the others' threads are its parent's, and what is recorded of them may be half written.
  bool is_of_this_process() const noexcept { return process_ == numa::process_number(); }
  std::uint32_t process() const noexcept { return process_; }  ///< that made it

  /// Only while no rank runs. Restarts the history.
  void begin_generation(std::uint32_t) noexcept;
  void begin_shared_round(std::uint32_t) noexcept;

  /// Records the failure and wakes sleeping ranks. Nothing in a forked child.
  void fail(cause, std::string_view reason, std::exception_ptr original = nullptr) noexcept;
  /// Waits until no rank is inside an instruction that touches another rank's caller memory. Only after a recorded
  /// failure: no new instructions begin then. A forked child has nobody to wait for.
  void quiesce(detail::rank_state const& leaver) const noexcept;

  shared_memory& root;    ///< itself, or that of the threads' own team
  shared_memory& origin;  ///< itself, or what it was split from: a root, or a domain of a team over processes
  capabilities kind;      ///< this and `patience` are changed by tests alone
  rank_t const ranks;
  std::vector<rank_t> const root_ranks, origin_ranks;  ///< [rank]
  domain const part;
  runtime::patience patience;
  runtime::arena arena;
  generation_marks marks;
  std::atomic<std::uint64_t> question = 1;  ///< of a root, see standstill
  runtime::failure& failure;  ///< of the origin, or root: ranks that touch each other's arrays hear of all their teams'

 private:
  void begin_history() noexcept;

  std::uint32_t const process_ = numa::process_number();
  runtime::failure own_failure_;
  std::optional<shown_to_debuggers> shown_;  ///< but for parts of teams: their ranks' waits are told in the whole
};

[[noreturn]] void refuse_in_child(char const* what);
/// Throws argument_error in a forked child.
inline void require_this_process(shared_memory const& of, char const* what) {
  if (!of.is_of_this_process()) [[unlikely]]
    refuse_in_child(what);
}

}  // namespace coset::runtime
