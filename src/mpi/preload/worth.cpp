// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/worth.hpp"

namespace coset::interpose {

/// What two processes on one host save at least, be it of Open MPI or MPICH (docs/figures.md): a third of a microsecond of a
/// short call, a half of a nanosecond of each byte that is combined, an eighth of one that only moves.
std::uint64_t saved_by_team(attachment const& on, arguments const& c) noexcept {
  constexpr std::uint64_t of_a_call = 300, combined = 2, moved = 8;
  return of_a_call + known_bytes(on, c).value_or(0) / (detail::only_moves(c.what) ? moved : combined);
}

}  // namespace coset::interpose
