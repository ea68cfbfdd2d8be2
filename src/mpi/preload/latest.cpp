// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/latest.hpp"

#include "mpi/preload/call.hpp"
#include "mpi/preload/tally.hpp"

namespace coset::interpose {
namespace {

bool never_ends(MPI_Datatype type) { return type == MPI_DATATYPE_NULL || is_predefined(type); }

}  // namespace

/// Where each call is counted for people, none goes past the counting.
void latest_call::note(attachment const& a, arguments const& c, kind_of_calls* kind, prepared const& call) {
  bool const has_own_arrays = call.sent != nullptr || call.received != nullptr || call.finish;
  bool const is_plain = !has_own_arrays && !call.is_empty && !call.tells_counts && call.counts.empty();
  bool const is_native = detail::only_moves(c.what) || call.how.elements == known(c.type)->native;
  is_known_ = is_plain && is_native && never_ends(c.type) && never_ends(c.out_type) && !is_logged() && !is_required() &&
              a.me() != nullptr;
  if (!is_known_) return;
  by_ = side::team;
  as_ = c;
  kind_ = kind;
  made_ = call.made();
}

void latest_call::note_left(arguments const& c, kind_of_calls* kind) {
  // An allgather of counts that vary is of a kind by their sum, which comparing them would take.
  bool const is_of_any_size = c.varies && detail::is_rooted(c.what);
  bool const has_one_size = !c.varies && never_ends(c.type) && never_ends(c.out_type);
  is_known_ = !is_logged() && (is_of_any_size || has_one_size);
  if (!is_known_) return;
  by_ = side::mpi;
  is_of_any_size_ = is_of_any_size;
  as_ = c;
  kind_ = kind;
}

}  // namespace coset::interpose
