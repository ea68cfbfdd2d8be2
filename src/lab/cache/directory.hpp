// SPDX-License-Identifier: Apache-2.0
// Who holds which line: one owner, or copies with readers. A copy serves one reader at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/cache/machine.hpp"
#include "lab/cache/script.hpp"

namespace coset::cache {

/// How a core comes by a line.
struct served {
  bool is_here;             ///< it holds the line already, so that nothing happens
  bool moves;               ///< another core's copy is brought
  level from;               ///< what joins it with that core, or with the farthest of those that lose theirs
  rank_t holder;            ///< whose copy is brought
  double begin;             ///< no sooner than asked for: copies are given to one reader after the other
  bool is_written = false;  ///< its holder alone has it, and has written there
};

class directory {
 public:
  directory(machine const&, std::vector<cell> const&);

  /// `reader` gets a copy of this cell, of the nearest that there is. Of several readers behind one L3 the first gets it
  /// from outside, the others from the first. Where lines are handed over, the first to read what another has written is
  /// its new owner.
  served read(std::uint32_t number, rank_t reader, double now);
  /// `writer` becomes the only one to hold it, from `begin` + what owning costs on. Nobody is served until then.
  served write(std::uint32_t number, rank_t writer, double now);

 private:
  /// The copy behind one L3.
  struct copy {
    std::uint32_t l3;
    rank_t holder;
    double free;  ///< when it can be given to the next reader
  };
  struct sharing {
    std::vector<copy> copies;
    std::vector<std::uint64_t> readers;  ///< a bit for each rank
  };
  struct state {
    rank_t owner;
    std::int32_t shared;  ///< index into sharings_; exclusive: the owner's alone
    double free;
    bool written;  ///< by its owner, since that has it
  };
  static constexpr std::int32_t exclusive = -1;

  sharing& share(state&);
  level farthest_from(state const&, rank_t) const;

  machine const& machine_;
  std::vector<state> states_;
  std::vector<sharing> sharings_;
  std::vector<std::int32_t> unused_;
};

}  // namespace coset::cache
