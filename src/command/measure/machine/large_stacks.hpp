// SPDX-License-Identifier: Apache-2.0
// Stacks for OpenMP's private arrays.
#pragma once

namespace coset::measure {

/// OpenMP's private arrays lie on its threads' stacks, and both stack limits are read when a program is loaded. So this
/// loads the program again with these arguments, unless OMP_STACKSIZE is set. Threads of LLVM's runtime that spin for
/// longer than between two steps would only delay the next contestant, and are kept from it.
void restart_with_large_stacks(char** arguments);

}  // namespace coset::measure
