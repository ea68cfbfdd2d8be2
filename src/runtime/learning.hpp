// SPDX-License-Identifier: Apache-2.0
// Calls whose plan follows from what earlier ones took. All ranks read all ranks' times in the entry lines of a call, so
// that they agree on the next one's plan without a message.
#pragma once

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// A blocking call of a plan that has lessons, from prepare() to its end. Throws what complete() throws.
void complete_and_learn(detail::rank_state&, detail::bound_plan const&, void const* in, void* out,
                        void const* operation);

/// What serves a started call: the best that blocking calls of its shape have shown, as all ranks have made the same of
/// them when they start it. It teaches nothing, since ranks do not see its end at the same operation.
detail::bound_plan const& best_of(detail::rank_state const&, detail::bound_plan const&);

}  // namespace coset::runtime
