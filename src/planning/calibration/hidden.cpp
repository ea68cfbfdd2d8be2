// SPDX-License-Identifier: Apache-2.0
#include "planning/calibration/hidden.hpp"

namespace coset::calibration {

std::vector<std::size_t> homes_of(clustering const& clusters, std::size_t processors) {
  std::vector<std::size_t> home(processors);
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    for (rank_t const r : clusters[c]) home[r] = c;
  }
  return home;
}

void mark(std::vector<processor>& places, std::vector<clustering> const& levels) {
  if (levels.empty()) return;
  auto const finest = homes_of(levels.front(), places.size()), coarsest = homes_of(levels.back(), places.size());
  for (std::size_t r = 0; r < places.size(); ++r) {
    places[r].l3 = static_cast<unsigned>(finest[r]);
    if (levels.size() > 1) places[r].package = static_cast<unsigned>(coarsest[r]);
  }
}

}  // namespace coset::calibration
