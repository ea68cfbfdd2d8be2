// SPDX-License-Identifier: Apache-2.0
// What libcoset_preload.so and its halves know of each other.
#pragma once

extern "C" {

/// What the process would call without this layer: the next definition of the name behind libcoset_preload.so, where LD_PRELOAD has put
/// that, or else the MPI's that was found. nullptr if there is none. A half cannot look for itself: it is loaded behind all others.
void* coset_preload_next(char const* name);

/// Of a half: the function that it needs of its MPI and has not found, or nullptr.
#define COSET_PRELOAD_LACKS "coset_preload_lacks"
char const* coset_preload_lacks();
using coset_preload_lacks_function = decltype(&coset_preload_lacks);
}
