// SPDX-License-Identifier: Apache-2.0
// How all processes of a team agree between runs: each brings one record, and gets what has come of all of them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <type_traits>

#include "mpi/transport/calls.hpp"
#include "team/domain_team.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Processes reach these in the same order. A process out of order reaches another one than the rest: since records
/// have one size, the exchange ends all the same, and every process learns of it.
enum class occasion : std::uint32_t {
  constructing,
  beginning,   ///< a run: ranks' positions
  prepared,    ///< to run
  ending,      ///< a run
  clearing,    ///< what a failed run has left: its reason
  destroying,  ///< the team
};

/// What a process waits for there, in words.
char const* awaited_at(occasion);

inline constexpr int nobody = std::numeric_limits<int>::max();

/// What a process brings, and what some processes have brought together: of one size, whatever the occasion needs of it
/// and however many they are.
struct record {
  struct place {
    occasion at;
    std::uint32_t round = 0;
    int process = 0;
  };
  /// Equal if and only if all processes have brought the same.
  struct range {
    std::uint64_t least = 0, most = 0;
    constexpr range() = default;
    constexpr explicit range(std::uint64_t only) : least(only), most(only) {}
    bool is_one() const { return least == most; }
  };

  /// What a pool has for a new team: a bit for each.
  struct offer {
    std::uint64_t kept = 0, vacant = 0;  ///< places whose connections are free, and those that have none
    std::uint64_t surveys = 0;           ///< that still hold
  };

  /// What a constructor is given.
  struct given_threads {
    range kind;
    std::uint32_t mode = 0;  ///< floating_point_mode::in_common(), of process 0; the others say nothing
  };

  explicit record(occasion here) : nearest{here}, farthest{here} {}

  place nearest, farthest;  ///< the lowest process that has come least, and most, far
  int unwell = nobody;      ///< the lowest process that has something to throw
  bool failed = false;      ///< some rank that some process knows of has failed
  bool all_record = true;   ///< every process of a team under construction records a trace
  range wishes;             ///< of the constructors
  given_threads threads;
  offer from_pool;                 ///< what all processes can offer
  std::uint32_t latest_round = 0;  ///< of any team
  team_room::domain_team::positions furthest{};
  runtime::cause why = runtime::cause::aborted;  ///< what `unwell` throws, and its words
  std::array<char, 512> reason{};

  void say(std::string_view words);  ///< as much of them as fits
};
static_assert(std::is_trivially_copyable_v<record>);

/// Commutative and associative, so that all processes get the same in whatever order MPI combines them.
record together(record const& one, record const& other);

/// What MPI has to know to combine records. Several threads may use it at once.
class agreement {
 public:
  agreement();
  ~agreement();
  agreement(agreement const&) = delete;
  agreement& operator=(agreement const&) = delete;

  /// Collective over all processes: their records together. Throws mpi::error, with the names of both, if processes have
  /// come to different occasions; otherwise as await() does, after which MPI may still use `room`. Takes nothing from the
  /// heap. Cost: one MPI_Iallreduce of one record.
  record reach(communicator const& all, exchange<record>& room, record mine, patience,
               std::function<void()> const& meanwhile);

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  std::atomic<bool> given_up_ = false;
};

}  // namespace coset::mpi
