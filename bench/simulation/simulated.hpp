// SPDX-License-Identifier: Apache-2.0
// SimGrid's wall: ranks that carry out messages in simulated time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages.hpp"

namespace coset::simulation {

/// Where ranks are, and what they pay there beside the links of the platform.
struct machine {
  std::string platform;                    ///< file, SimGrid's XML
  std::vector<std::string> hosts;          ///< [rank]
  double message_overhead = 0;             ///< seconds, of the sender and again of the receiver
  double combine_per_byte = 0;             ///< seconds
  std::string comparator = {};             ///< SimGrid's algorithm for calls without messages of their own
  std::vector<std::string> settings = {};  ///< SimGrid's own, "network/model:CM02"
};

/// One allreduce. All ranks begin at the same moment; it has taken what the last one takes.
struct call {
  messages const* sent;  ///< none: MPI_Allreduce
  std::uint64_t bytes;
  double seconds = 0;
};

/// Sets the seconds of all calls, one after the other. SimGrid is started, which a process can do once.
void simulate(machine const&, std::vector<call>& calls);

}  // namespace coset::simulation
