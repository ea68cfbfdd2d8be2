// SPDX-License-Identifier: Apache-2.0
// How all processes of a team agree between runs: each brings one record, of the same size on every occasion.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mpi/transport/calls.hpp"
#include "team/domain_team.hpp"

namespace coset::mpi {

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

struct record {
  occasion at;
  std::uint32_t round = 0;
  bool well = true;     ///< this process has nothing to throw
  bool failed = false;  ///< some rank that this process knows of has failed
  runtime::cause why = runtime::cause::aborted;
  static constexpr std::size_t room = std::max<std::size_t>(sizeof(team_room::domain_team::positions), 512);
  alignas(16) std::array<std::byte, room> more{};  ///< what the occasion needs, or a reason

  template <class T>
  void put(T const& what) {
    static_assert(sizeof(T) <= room && std::is_trivially_copyable_v<T>);
    std::memcpy(more.data(), &what, sizeof what);
  }
  template <class T>
  T get() const {
    static_assert(sizeof(T) <= room && std::is_trivially_copyable_v<T>);
    T what;
    std::memcpy(&what, more.data(), sizeof what);
    return what;
  }
  void say(std::string_view reason);  ///< as much of it as fits
  std::string reason() const { return reinterpret_cast<char const*>(more.data()); }
};

/// Collective over all processes: their records, in the order of their ranks. Throws mpi::error, with the names of
/// both, if processes have come to different occasions; otherwise as await() does.
std::vector<record> agree(communicator const& all, record const& mine, patience,
                          std::function<void()> const& meanwhile);

}  // namespace coset::mpi
