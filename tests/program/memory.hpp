// SPDX-License-Identifier: Apache-2.0
// Symbolic memory that notices races: every access has to come after those it conflicts with, whatever the interleaving.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "coset/error.hpp"

namespace coset::program::testing {

/// What a real machine would show as a wrong result, a crash or a hang, at some time or other.
struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// [rank]: how far a rank knows the others to be. A rank's own time advances with each of its signals.
using vector_clock = std::vector<std::uint32_t>;

inline void join(vector_clock& mine, vector_clock const& theirs) {
  for (std::size_t q = 0; q < mine.size(); ++q) mine[q] = std::max(mine[q], theirs[q]);
}

/// Stands for the contents of an array: hashes of who was folded with whom in which order.
using content = std::uint64_t;

/// One array, cut into cells differently by each operation. Within an operation conflicts are told cell by cell; between
/// operations any two accesses conflict, since cells of different sizes overlap.
class array {
 public:
  explicit array(std::string name, rank_t ranks) : name_(std::move(name)), past_(ranks, 0), now_(ranks, 0) {}

  content read(std::uint32_t operation, std::size_t cell, rank_t reader, vector_clock const& clock);
  void write(std::uint32_t operation, std::size_t cell, rank_t writer, vector_clock const& clock, content);
  /// Cells that nobody can read or write: the caller has no array there.
  void forbid(std::uint32_t operation, std::size_t cell, rank_t owner, vector_clock const& clock);
  void mention(std::uint32_t operation, rank_t rank, vector_clock const& clock);

 private:
  struct access {
    rank_t rank;
    std::uint32_t time;
  };
  struct cell_state {
    content value = 0;
    bool forbidden = false;
    access written{0, 0};
    std::vector<access> reads;
  };

  cell_state& at(std::uint32_t operation, std::size_t cell, rank_t rank, vector_clock const& clock);
  void require_after(access const& earlier, std::size_t cell, rank_t rank, vector_clock const& clock) const;

  std::string name_;
  std::uint32_t operation_ = 0;  ///< the latest that has touched this array
  vector_clock past_, now_;      ///< when ranks last touched it in earlier operations, and in this one
  std::vector<char> is_after_past_;
  std::vector<cell_state> cells_;
};

}  // namespace coset::program::testing
