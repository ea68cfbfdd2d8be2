// SPDX-License-Identifier: Apache-2.0
// Where the threads of a benchmark run.
#pragma once

#include <algorithm>
#include <vector>

#include "coset/topology.hpp"

namespace coset::measure {

/// A processor for each of `threads`: cores close to each other, reused from the first if threads outnumber them.
inline std::vector<unsigned> processors_for(topology const& machine, std::size_t threads) {
  auto const places =
      machine.place(static_cast<rank_t>(std::min<std::size_t>(threads, machine.cores())), placement::compact);
  std::vector<unsigned> processors;
  for (std::size_t t = 0; t < threads; ++t) processors.push_back(places[t % places.size()].os_index);
  return processors;
}

}  // namespace coset::measure
