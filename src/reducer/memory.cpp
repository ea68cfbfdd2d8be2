// SPDX-License-Identifier: Apache-2.0
// Which kind of memory copies lie in.
#include "numa/kinds.hpp"
#include "reducer/core.hpp"

namespace coset::inline COSET_ABI::detail {

void reducer_core::place(memory_kind wanted) {
  numa::require_kind(wanted);
  if (tracking_ != tracking::none) {
    memory_ = numa::resolved(wanted, memory_kind::high_bandwidth);
  } else if (numa::machine_of_several_tiers() != nullptr) {
    set_.emplace(bytes_, wanted);  // the set before leaves what it has to other reducers
  }
}

void place_copies(reducer_core& core, memory_kind wanted) { core.place(wanted); }

}  // namespace coset::detail
