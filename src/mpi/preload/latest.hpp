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
  bool goes_again_to(side, arguments const&) noexcept;
  /// The call as the team was asked for it.
  capi::made_call const& made() const noexcept { return made_; }

  void note(attachment const&, arguments const&, kind_of_calls*, prepared const&);
  void note_left(arguments const&, kind_of_calls*);

 private:
  bool is_like(arguments const&) const noexcept;

  bool is_known_ = false;
  side by_ = side::team;
  arguments as_{};
  kind_of_calls* kind_ = nullptr;
  capi::made_call made_{};
};

}  // namespace coset::interpose
