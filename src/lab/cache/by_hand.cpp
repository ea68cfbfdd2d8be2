// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/by_hand.hpp"

#include <algorithm>

#include "lab/cache/array_cells.hpp"

namespace coset::cache {
namespace {

constexpr std::uint32_t counter_line = 0, release_line = 1;

void add_barrier(script& s, std::int64_t number) {
  s.acts.push_back({.what = act_kind::count, .line = counter_line, .value = number});
  s.acts.push_back({.what = act_kind::look, .line = release_line, .value = number});
}

/// An array of one cell for each slice that has any lines.
class sliced {
 public:
  sliced(std::size_t lines, rank_t ranks) : lines_(lines), slices_(std::min<std::size_t>(ranks, lines)) {}

  std::uint32_t add(std::vector<cell>& cells, rank_t home) const {
    auto const first = static_cast<std::uint32_t>(cells.size());
    for (std::size_t k = 0; k < slices_; ++k)
      cells.push_back({static_cast<std::uint32_t>(lines_ * (k + 1) / slices_ - lines_ * k / slices_), home});
    return first;
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(slices_); }

 private:
  std::size_t lines_, slices_;
};

}  // namespace

work barrier_loop(rank_t ranks, std::size_t bytes) {
  work made;
  made.flags = 2;
  made.span = 2;
  made.call.resize(2);
  made.cells = {{1, 0}, {1, 0}};
  sliced const slices(lines_of(bytes), ranks);
  std::vector<std::uint32_t> inputs, outputs;
  for (rank_t r = 0; r < ranks; ++r) {
    inputs.push_back(slices.add(made.cells, r));
    outputs.push_back(slices.add(made.cells, r));
  }
  std::uint32_t const result = slices.add(made.cells, 0);
  for (rank_t r = 0; r < slices.count(); ++r) made.cells[result + r].home = r;
  auto const all_of = [&](std::uint32_t first) {
    return slices.count() == 0 ? std::vector<cell_range>{} : std::vector<cell_range>{{first, slices.count()}};
  };
  for (rank_t r = 0; r < ranks; ++r) {
    script s, before, after;
    add_barrier(s, 1);
    if (r < slices.count()) {
      std::vector<cell_range> mine;
      for (rank_t q = 0; q < ranks; ++q) mine.push_back({inputs[q] + r, 1});
      s.fold(mine, {{result + r, 1}});
    }
    add_barrier(s, 2);
    s.fold(all_of(result), all_of(outputs[r]));
    before.fold({}, all_of(inputs[r]));
    after.fold(all_of(outputs[r]), {});
    made.writes_input.push_back(before);
    made.reads_output.push_back(after);
    for (auto& each : made.call) each.push_back(s);
  }
  made.array_bytes = bytes_touched(made);
  return made;
}

}  // namespace coset::cache
