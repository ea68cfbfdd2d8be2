// SPDX-License-Identifier: Apache-2.0
// The collectives by name, for plans.
#pragma once

#include <cstdint>

namespace coset {

enum class verb : std::uint8_t {
  allreduce,
  reduce,
  reduce_scatter,
  allgather,
  broadcast,
  scan,
  exclusive_scan,
  barrier,
  reduce_shared,  ///< one result that all ranks name
  allreduce_view  ///< one result per node, in the team's memory
};

}  // namespace coset
