// SPDX-License-Identifier: Apache-2.0
// What a team has of MPI for as long as it lives.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi/agreement.hpp"
#include "mpi/transport/calls.hpp"
#include "mpi/transport/lanes.hpp"
#include "mpi/transport/offload.hpp"
#include "mpi/transport/window.hpp"

namespace coset::inline COSET_ABI::mpi {

struct connections {
  communicator all;  ///< for agreements, and for notices
  std::shared_ptr<agreement> agreed;
  exchange<record> agreeing{record(occasion::constructing), record(occasion::constructing)};  ///< of its team, in `all`
  exchange<std::uint32_t> stuck{};  ///< channels of offloads, as all processes tell them
  seat lanes;
  circles offload;
  window shared;                      ///< empty if this process shares memory with no other
  std::uint32_t survey = 0;           ///< which the following belongs to, and `shared`; see pool
  std::int64_t staging = 0;           ///< the bytes of it that all hosts have
  std::uint64_t own_cache_bytes = 0;  ///< that a core of this host has for itself, as its first process knows it
};

}  // namespace coset::mpi
