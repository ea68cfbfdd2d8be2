// SPDX-License-Identifier: Apache-2.0
// What libcoset_preload.so and its halves know of each other.
#pragma once

/// What a half keeps of each thread; zeros at first. What is loaded late finds little room that a thread reaches without a call, so
/// libcoset_preload.so has it.
struct coset_preload_kept {
  bool is_inside;
  alignas(void*) unsigned char latest_communicator[32];
  alignas(void*) unsigned char latest_operation[64];
};

/// Of UCX's workers, which look for messages.
struct coset_preload_watch {
  void* latest;   ///< that has looked
  void* watched;  ///< by a half: after each look of this one comes its own
  int (*look)();
};

extern "C" {

extern coset_preload_watch coset_preload_of_ucx;

extern constinit thread_local coset_preload_kept coset_preload_of_thread __attribute__((tls_model("initial-exec")));

/// What the process would call without this layer: the next definition of the name behind libcoset_preload.so, where LD_PRELOAD has put
/// that, or else the MPI's that was found. nullptr if there is none. A half cannot look for itself: it is loaded behind all others.
void* coset_preload_next(char const* name);

/// Of a half: the function that it needs of its MPI and has not found, or nullptr.
#define COSET_PRELOAD_LACKS "coset_preload_lacks"
char const* coset_preload_lacks();
using coset_preload_lacks_function = decltype(&coset_preload_lacks);
}
