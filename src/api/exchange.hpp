// SPDX-License-Identifier: Apache-2.0
// What gather, scatter and all_to_all do where one plan does not do.
#pragma once

#include "coset/detail/collective.hpp"

namespace coset::inline COSET_ABI::detail {

/// Whether a call for which staging has no room may go in halves of each piece.
bool can_be_halved(rank_state&, call const&);
/// Packs each half and runs it as a call of its own, which may be halved again.
void run_in_halves(rank_state&, call const&);

}  // namespace coset::inline COSET_ABI::detail
