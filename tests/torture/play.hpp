// SPDX-License-Identifier: Apache-2.0
// One case from its beginning to its end, in a process that has no team yet and may end by it.
#pragma once

#include "torture/stages.hpp"

namespace coset::torture {

/// Tells the trial's account what came of it.
void play(trial&);
/// The same on a stage that is there already, as of processes.
void play_on(stage&, trial&);

}  // namespace coset::torture
