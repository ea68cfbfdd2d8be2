// SPDX-License-Identifier: Apache-2.0
// How what sparse reducers have touched comes to other processes: the choice, by counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace coset::reducer_room {

enum class wire : std::uint8_t {
  each_rank,     ///< each rank's touched blocks, and the updates that it kept
  each_process,  ///< blocks are folded within their process first; updates as they are
  whole_array,   ///< as a dense reducer
};

/// What all ranks together have touched, as they know it alike.
struct wire_counts {
  std::uint64_t processes = 1, bytes = 0;  ///< of the array
  std::uint64_t block_bytes = 0, record_bytes = 0;
  std::uint64_t blocks = 0;   ///< touched, of all ranks
  std::uint64_t united = 0;   ///< the same, those that ranks of one process have in common counted once
  std::uint64_t updates = 0;  ///< that were kept
  bool everywhere = true;     ///< all processes get the result; or one of them, or each its part
  bool may_be_whole = true;   ///< memory and bits allow it
};

struct wire_choice {
  wire way = wire::each_rank;
  std::array<std::uint64_t, 3> bytes = {};  ///< [way]: from process to process, all together
  std::uint64_t least() const noexcept { return bytes[static_cast<std::size_t>(way)]; }
};

/// Of ways that send the same the first: it has the least to do. Blocks are followed by where they belong, 16 bytes.
wire_choice choose_wire(wire_counts const&) noexcept;
char const* name_of(wire) noexcept;
/// "folded in each process first: 1200 bytes from process to process (each rank's own 2400, the whole array 8000)".
std::string in_words(wire_choice const&);

}  // namespace coset::reducer_room
