// SPDX-License-Identifier: Apache-2.0
// What the teams of one communicator's processes have in common, and what one leaves to the next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "mpi/agreement.hpp"
#include "mpi/pool/connections.hpp"
#include "mpi/process_map.hpp"
#include "planning/schedule/model/cost.hpp"

namespace coset::inline COSET_ABI::mpi {

class lease;

/// After the last team has ended, while MPI still works.
void close_all_pools() noexcept;

/// Lives as an attribute of the communicator, and longer if teams do. Its processes agree on the connections that a new
/// team takes: they are free everywhere only if no process is still at the end of the team that had them.
class pool : public std::enable_shared_from_this<pool> {
 public:
  /// What a process tells of itself when it founds a team.
  struct facts {
    own_part part;
    std::uint64_t wishes;
    friend bool operator==(facts const&, facts const&) = default;
  };
  /// What the processes found, and what this one told then. It holds where each tells the same again.
  struct survey {
    facts told;
    process_map found;
    std::uint32_t number;  ///< counts from 1
  };

  /// Collective: the pool of the communicator's processes, made for their first team; all throw if one process has no
  /// memory for it. `meanwhile` is called while this process waits for others, and throws nothing.
  static std::shared_ptr<pool> of(MPI_Comm, std::function<void()> const& meanwhile);
  ~pool();
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;

  /// Founding has a communicator of its own: teams that are alive may be at any other place.
  communicator const& founders() const noexcept { return founders_; }
  communicator const& host() const noexcept { return host_; }

  /// Collective: all processes agree to found a team. This one brings what it has to say of the team, and here the
  /// connections that the team could take, and the surveys in which it told the same.
  record meet_founders(record, facts const&, std::function<void()> const& meanwhile);
  /// Afterwards: a survey that holds for all processes, if any does.
  survey const* survey_of(record const& agreed) const noexcept;
  /// On all processes.
  survey const& note_survey(facts const& told, process_map found) noexcept;
  /// Collective, afterwards: free connections, if possible some that served processes of this survey; or new ones. These two
  /// throw on all processes if one has no memory for new ones; free ones take none.
  lease take(record const& agreed, survey const&);
  /// Collective: a seat among at least so many lanes, for processes of so many threads at most.
  seat seat_among(rank_t lanes, rank_t threads);

  /// What messages cost between hosts, or between processes, once that has been measured.
  std::optional<schedule::link>& network(bool between_hosts) noexcept { return networks_[between_hosts ? 1 : 0]; }

  /// The communicator is being freed, or MPI finalised: what no team uses is freed.
  void close() noexcept;

 private:
  friend lease;
  friend void close_all_pools() noexcept;
  class registry;
  /// A pool keeps connections in so many places, and their windows with all pages that have been used.
  static constexpr std::uint32_t places = 16;
  static constexpr std::uint32_t kept_surveys = 8;
  pool() = default;

  void serve(communicator founders);
  void propose(record&, facts const&) const noexcept;
  std::uint32_t place_for(std::uint64_t kept, survey const&) const noexcept;
  void give_back(std::uint32_t place, std::unique_ptr<connections>) noexcept;
  void vacate(std::uint32_t place) noexcept;

  std::shared_ptr<pool> earlier_;  ///< in the registry
  communicator founders_, host_;
  std::shared_ptr<agreement> agreed_ = std::make_shared<agreement>();  ///< freed with the last that uses it
  std::shared_ptr<lanes> latest_lanes_;
  std::array<std::optional<survey>, kept_surveys> surveys_;  ///< the latest
  std::uint32_t surveys_made_ = 0;
  std::array<std::optional<schedule::link>, 2> networks_;

  mutable std::mutex keeping_;                               ///< guards these: teams may end in any thread
  std::array<std::unique_ptr<connections>, places> kept_{};  ///< while no team uses them
  std::uint64_t vacant_ = (std::uint64_t{1} << places) - 1;  ///< a bit for each place that has no connections at all
  bool closed_ = false;
  std::atomic<bool> misses_a_process_ = false;
};

/// The connections of one team. They return to the pool with its destructor, which all processes have agreed on.
class lease {
 public:
  lease() = default;
  lease(std::shared_ptr<pool> from, std::uint32_t place, std::unique_ptr<connections>) noexcept;
  lease(lease&&) noexcept = default;
  lease& operator=(lease&&) noexcept;
  ~lease() { give_back(); }

  connections* operator->() const noexcept { return used_; }
  connections& operator*() const noexcept { return *used_; }
  void give_back() noexcept;
  /// MPI or another process may still use them: they stay as they are for good, and new ones take their place. Or some
  /// process takes part in no collective of theirs any more, and perhaps in none at all.
  void leave_to_mpi(bool misses_a_process) noexcept;

 private:
  std::shared_ptr<pool> from_;
  std::uint32_t place_ = 0;
  std::unique_ptr<connections> owned_;
  connections* used_ = nullptr;
};

}  // namespace coset::mpi
