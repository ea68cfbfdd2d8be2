// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coset::program::testing {

void array::require_after(access const& earlier, std::size_t cell, rank_t rank, vector_clock const& clock) const {
  if (earlier.time <= clock[earlier.rank]) return;
  throw violation(fmt::format("race on {}[{}] in operation {}: rank {} does not wait for rank {}", name_, cell,
                              operation_, rank, earlier.rank));
}

void array::mention(std::uint32_t operation, rank_t rank, vector_clock const& clock) {
  if (operation < operation_) {
    throw violation(fmt::format("{}: rank {} is in operation {} when the array serves operation {} already", name_,
                                rank, operation, operation_));
  }
  if (operation > operation_) {
    join(past_, now_);
    operation_ = operation;
    is_after_past_.assign(past_.size(), false);
    cells_.clear();
  }
  // Clocks only grow, so that one look per rank and operation is enough.
  if (!is_after_past_[rank]) {
    for (rank_t q = 0; q < past_.size(); ++q) {
      if (past_[q] > clock[q]) {
        throw violation(fmt::format("{}: rank {} uses it in operation {} before rank {} has left an earlier one", name_,
                                    rank, operation, q));
      }
    }
    is_after_past_[rank] = true;
  }
  now_[rank] = clock[rank];
}

array::cell_state& array::at(std::uint32_t operation, std::size_t cell, rank_t rank, vector_clock const& clock) {
  mention(operation, rank, clock);
  if (cell >= cells_.size()) cells_.resize(cell + 1);
  if (cells_[cell].forbidden)
    throw violation(fmt::format("rank {} touches {}[{}], which does not exist", rank, name_, cell));
  return cells_[cell];
}

content array::read(std::uint32_t operation, std::size_t cell, rank_t reader, vector_clock const& clock) {
  cell_state& c = at(operation, cell, reader, clock);
  require_after(c.written, cell, reader, clock);
  c.reads.push_back({reader, clock[reader]});
  return c.value;
}

void array::write(std::uint32_t operation, std::size_t cell, rank_t writer, vector_clock const& clock, content value) {
  cell_state& c = at(operation, cell, writer, clock);
  require_after(c.written, cell, writer, clock);
  for (access const& earlier : c.reads) require_after(earlier, cell, writer, clock);
  c.reads.clear();
  c.written = {writer, clock[writer]};
  c.value = value;
}

void array::forbid(std::uint32_t operation, std::size_t cell, rank_t owner, vector_clock const& clock) {
  at(operation, cell, owner, clock).forbidden = true;
}

}  // namespace coset::program::testing
