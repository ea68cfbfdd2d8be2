// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/script.hpp"

#include <algorithm>

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

std::uint64_t bytes_touched(work const& w) {
  std::vector<char> touched(w.cells.size());
  auto const touch = [&](std::vector<script> const& scripts) {
    for (script const& s : scripts)
      for (cell_range const& range : s.ranges) std::fill_n(touched.begin() + range.first, range.count, char{1});
  };
  touch(w.writes_input);
  std::ranges::for_each(w.call, touch);
  touch(w.reads_output);
  std::uint64_t lines = 0;
  for (std::size_t c = w.flags; c < w.cells.size(); ++c) lines += touched[c] != 0 ? w.cells[c].lines : 0;
  return lines * line_bytes / w.writes_input.size();
}

}  // namespace coset::cache
