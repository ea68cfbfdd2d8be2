// SPDX-License-Identifier: Apache-2.0
// validate() of what all ranks do alike, without writing it out.
#pragma once

#include "coset/verbs/verb.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/groups/symmetric.hpp"

namespace coset::schedule {

/// What validate() finds in expand(), for a verb that has a symmetric form. One block is followed, since the group's
/// translations turn it into every other. Throws schedule_error where validate() does.
///
/// Cost: some table accesses per source of one block. Ranks order the sources of a fold by their numbers, which translations
/// change; so where partials are no cosets of one subgroup for each size, bits and order are told of each block, until one
/// shows that they are not kept. Throws no_room if that would take minutes.
properties validate(symmetric_schedule const&, verb);

}  // namespace coset::schedule
