// SPDX-License-Identifier: Apache-2.0
#include "study/cache/script.hpp"

namespace coset::cache {

void script::fold(std::vector<cell_range> const& sources, std::vector<cell_range> const& destinations, bool streams) {
  if (sources.empty() && destinations.empty()) return;
  acts.push_back({.what = act_kind::fold,
                  .streams = streams,
                  .first = static_cast<std::uint32_t>(ranges.size()),
                  .sources = static_cast<std::uint32_t>(sources.size()),
                  .destinations = static_cast<std::uint32_t>(destinations.size())});
  ranges.insert(ranges.end(), sources.begin(), sources.end());
  ranges.insert(ranges.end(), destinations.begin(), destinations.end());
}

}  // namespace coset::cache
