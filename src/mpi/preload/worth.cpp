// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/worth.hpp"

#include <algorithm>

namespace coset::interpose {
namespace {

/// Of the whole vector; nothing where MPI may refuse the arguments.
std::uint64_t bytes_of(attachment const& on, arguments const& c) noexcept {
  if (detail::is_barrier(c.what)) return 0;
  bool const gathers = detail::gives_pieces(c.what), has_pieces = gathers || detail::gets_pieces(c.what);
  datatype const* const elements = known(gathers ? c.out_type : c.type);
  if (elements == nullptr || (c.varies && !c.of_ranks.have_counts())) return 0;
  MPI_Count elements_in_all = has_pieces ? (gathers ? c.out_count : c.count) * on.size() : c.count;
  if (c.varies) {
    elements_in_all = 0;
    for (int r = 0; r < on.size(); ++r) elements_in_all += c.of_ranks.count_of(r);
  }
  return static_cast<std::uint64_t>(std::max<MPI_Count>(elements_in_all, 0)) * elements->size;
}

}  // namespace

/// What two processes on one host save at least, be it of Open MPI or MPICH (docs/figures.md): a third of a microsecond of a
/// short call, a half of a nanosecond of each byte that is combined, an eighth of one that only moves.
std::uint64_t saved_by_team(attachment const& on, arguments const& c) noexcept {
  constexpr std::uint64_t of_a_call = 300, combined = 2, moved = 8;
  return of_a_call + bytes_of(on, c) / (detail::only_moves(c.what) ? moved : combined);
}

}  // namespace coset::interpose
