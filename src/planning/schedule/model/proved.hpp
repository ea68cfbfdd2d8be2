// SPDX-License-Identifier: Apache-2.0
// Schedules made to be proved and priced, not to be run: written out for all ranks only where these differ.
#pragma once

#include <optional>

#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/model/demand.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

class proved_schedule {
 public:
  /// What make() makes. Throws schedule_error as make() and validate() do; but where all ranks do the same, any number of
  /// them has room.
  proved_schedule(algorithm const&, rank_t ranks, verb what, rank_t root = 0);

  properties const& found() const { return found_; }
  /// Contributors may count more than once.
  bool is_idempotent_only() const { return written_ && written_->idempotent_only; }
  counts on(level_machine const&) const;

 private:
  std::optional<symmetric_schedule> alike_;
  std::optional<schedule> written_;  ///< else
  properties found_;
};

/// Whether it has the properties wanted.
bool serves(proved_schedule const&, demand const&);

/// count() of it. Throws no_room as it does.
std::optional<candidate> count_proved(algorithm const&, demand const&, level_machine const&);

}  // namespace coset::schedule
