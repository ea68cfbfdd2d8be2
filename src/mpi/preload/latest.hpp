// SPDX-License-Identifier: Apache-2.0
// The latest call of a communicator: many programs make it again and again.
#pragma once

#include <mpi.h>

#include "bindings/c/arguments.hpp"
#include "mpi/preload/arguments.hpp"
#include "mpi/preload/judge.hpp"

namespace coset::interpose {

class attachment;
struct prepared;

/// What was found out about it holds for the next with the same arguments, of types and operations that never end. A blocking
/// call takes a tenth of a microsecond, so that half of it would be finding out.
class latest_call {
 public:
  /// Whether the side carries out this call, too. It counts as one of its kind.
  bool goes_again_to(side one, arguments const& c) noexcept {
    if (!is_known_ || by_ != one || !is_like(c)) return false;
    if (kind_ == nullptr) return true;
    if (!kind_->is_decided_for(one)) return false;
    kind_->ended_untried();
    return true;
  }
  /// The call as the team was asked for it.
  capi::made_call const& made() const noexcept { return made_; }

  void note(attachment const&, arguments const&, kind_of_calls*, prepared const&);
  void note_left(arguments const&, kind_of_calls*);

 private:
  bool is_like(arguments const& c) const noexcept {
    if (c.what != as_.what || c.varies != as_.varies) return false;
    // MPI gets the arguments as they are now; only their kind has to be the same.
    if (by_ == side::mpi && is_of_any_size_) return true;
    return (by_ == side::mpi || (c.in == as_.in && c.out == as_.out)) && c.count == as_.count && c.type == as_.type &&
           c.operation == as_.operation && c.root == as_.root && c.out_count == as_.out_count &&
           c.out_type == as_.out_type;
  }

  bool is_known_ = false;
  side by_ = side::team;
  bool is_of_any_size_ = false;  ///< its kind does not depend on sizes
  arguments as_{};
  kind_of_calls* kind_ = nullptr;
  capi::made_call made_{};
};

}  // namespace coset::interpose
