// SPDX-License-Identifier: Apache-2.0
// Stacks for OpenMP's private arrays.
#pragma once

namespace coset::measure {

/// OpenMP's private arrays lie on its threads' stacks, and both limits are read when a program is loaded: so it is loaded
/// again, with these arguments, unless OMP_STACKSIZE is set. Threads of LLVM's runtime that spin for longer than between
/// two steps only keep the next contestant waiting, and do not, then.
void restart_with_large_stacks(char** arguments);

}  // namespace coset::measure
