// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/latest.hpp"

#include "mpi/preload/call.hpp"
#include "mpi/preload/tally.hpp"

namespace coset::interpose {
namespace {

bool never_ends(MPI_Datatype type) { return type == MPI_DATATYPE_NULL || is_predefined(type); }

}  // namespace

bool latest_call::is_like(arguments const& c) const noexcept {
  if (c.what != as_.what || c.varies != as_.varies) return false;
  // MPI gets the arguments as they are now; only their kind has to be the same.
  bool const is_left = by_ == side::mpi;
  if (is_left && c.varies && detail::is_rooted(c.what)) return true;
  return (is_left || (c.in == as_.in && c.out == as_.out)) && c.count == as_.count && c.type == as_.type &&
         c.operation == as_.operation && c.root == as_.root && c.out_count == as_.out_count &&
         c.out_type == as_.out_type;
}

bool latest_call::goes_again_to(side one, arguments const& c) noexcept {
  if (!is_known_ || by_ != one || !is_like(c)) return false;
  if (kind_ == nullptr) return true;
  if (!kind_->is_decided_for(one)) return false;
  kind_->ended_untried();
  return true;
}

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
  is_known_ = !is_logged() && (c.varies || (never_ends(c.type) && never_ends(c.out_type)));
  if (!is_known_) return;
  by_ = side::mpi;
  as_ = c;
  kind_ = kind;
}

}  // namespace coset::interpose
