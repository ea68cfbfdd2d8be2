// SPDX-License-Identifier: Apache-2.0
// What the machine itself moves: every rank goes through long arrays of its own again and again, in pages that were placed in
// one way, and waits for nobody.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "command/measure/machine/flag_barrier.hpp"
#include "command/measure/machine/parking.hpp"
#include "numa/memory.hpp"

namespace coset::measure {

/// What is done with the arrays a, b and c of a rank. Counted are the bytes that loads and stores name: a line that a store
/// has to fetch first counts once. So do STREAM and likwid-bench, whose kernels these are but for the last.
enum class stream : std::uint8_t {
  read,        ///< of a: likwid's load
  copy,        ///< b = a, by stores through the caches: likwid's copy
  triad,       ///< c = a + s * b: likwid's stream
  fold,        ///< c = a + b by coset's kernel
  fold_around  ///< the same by its stores past the caches
};
inline constexpr std::array streams{stream::read, stream::copy, stream::triad, stream::fold, stream::fold_around};
std::string_view name_of(stream) noexcept;

/// Where the pages of the arrays come from.
enum class pages : std::uint8_t { first_touch, bound, interleaved };

struct stream_field {
  std::vector<unsigned> processors;  ///< [rank]
  std::size_t array_bytes = 0;       ///< of each of a rank's three arrays
  pages from = pages::first_touch;
  unsigned node = 0;  ///< of bound pages, as the system numbers it
};

class streaming {
 public:
  /// Throws std::bad_alloc.
  explicit streaming(stream_field const&);

  /// By node, as the system numbers them: pages of all arrays, as far as the system tells where they are.
  std::map<unsigned, std::size_t> pages_by_node();

  /// GB/s of all ranks together, from a common start to the end of the last one, of each round; a round takes so long at least.
  std::vector<double> play(stream, std::size_t rounds, double nanoseconds);

 private:
  struct arrays {
    numa::memory a, b, c;
  };
  double play_round(stream, std::size_t passes);
  void go_through(stream, arrays const&) const;

  std::size_t bytes_;
  crew crew_;
  flag_barrier together_;
  std::vector<arrays> of_;  ///< [rank]
};

}  // namespace coset::measure
