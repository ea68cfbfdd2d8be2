// SPDX-License-Identifier: Apache-2.0
// Reducers for C; coset.h has this, with what it builds on.
#ifndef COSET_COSET_REDUCER_H
#define COSET_COSET_REDUCER_H

// NOLINTBEGIN(modernize-*): it is C.

#include "coset/coset.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An array that threads reduce into without seeing each other, each in a copy of its own: histograms, forces,
/// gradients. For any threads, in a team or not; see reducer.hpp.
typedef struct coset_reducer coset_reducer;

/// Begin with `coset_reducer_options options = COSET_REDUCER_OPTIONS;`. Later versions may append to it.
typedef struct coset_reducer_options {
  size_t bytes;        ///< of this struct, as the caller was compiled
  size_t block_bytes;  ///< what is tracked as touched or not; 0: nothing is, unless most_bytes is given
  size_t most_bytes;   ///< of all copies together, beyond which threads fold early; 0: as much as they need
} coset_reducer_options;
#define COSET_REDUCER_OPTIONS \
  { sizeof(coset_reducer_options), 0, 0 }

/// `identity` is an element that the operation leaves others as they are with; NULL where the operation is a built-in
/// one. `options` may be NULL. COSET_ARGUMENT_ERROR for an operation that does not commute, or has no identity.
COSET_API coset_status coset_reducer_create(size_t count, coset_type, coset_operation, void const* identity,
                                            coset_reducer_options const* options, coset_reducer** made);
/// Where the calling thread reduces into elements [first, first + count): in a copy that it keeps until it ends. They
/// hold the identity at first. With `most_bytes` good until the thread's next call. Inside any parallel region, by any
/// number of threads at once.
COSET_API coset_status coset_reducer_local(coset_reducer*, size_t first, size_t count, void** elements);
/// The same in the copy of this number, for one thread at a time: where threads are numbered, as OpenMP's are, results
/// do not depend on who came first.
COSET_API coset_status coset_reducer_local_numbered(coset_reducer*, uint32_t number, size_t first, size_t count,
                                                    void** elements);
/// into[i] = into[i] ∘ all that was reduced into element i; the copies are empty then. After all updates, by the
/// caller's synchronisation. By `with`, a team that is not running, or the calling thread alone if that is NULL.
COSET_API coset_status coset_reducer_combine(coset_reducer*, void* into, coset_team* with);
/// One of `parts` parts of it, so that the threads of a region share the work, after a barrier: each calls it with a
/// part of its own, from 0 on, and all with the same `into`.
COSET_API coset_status coset_reducer_combine_part(coset_reducer*, void* into, uint32_t part, uint32_t parts);
/// Forgets what was reduced. Ask for elements anew then.
COSET_API coset_status coset_reducer_reset(coset_reducer*);
/// When no thread uses it any more. What was not combined is lost.
COSET_API coset_status coset_reducer_free(coset_reducer*);

/// Several arrays and values that threads reduce into at once: one copy per thread of all of them, one call to combine.
/// What is said of reducers holds for each; see joint_reducer.hpp.
typedef struct coset_joint_reducer coset_joint_reducer;

/// One of them: `{n, COSET_FLOAT64, COSET_PLUS, NULL}`; `identity` as for coset_reducer_create().
typedef struct coset_reduced {
  size_t count;
  coset_type type;
  coset_operation operation;
  void const* identity;
} coset_reduced;

COSET_API coset_status coset_joint_reducer_create(coset_reduced const* things, size_t number,
                                                  coset_joint_reducer** made);
/// elements[k] becomes the calling thread's array k, for `number` things.
COSET_API coset_status coset_joint_reducer_local(coset_joint_reducer*, void** elements, size_t number);
/// The same in the copy of this number; `copy` as in coset_reducer_local_numbered().
COSET_API coset_status coset_joint_reducer_local_numbered(coset_joint_reducer*, uint32_t copy, void** elements,
                                                          size_t number);
/// Array k into into[k], for `number` things. COSET_ARGUMENT_ERROR, and nothing is combined, where one is NULL that has
/// elements.
COSET_API coset_status coset_joint_reducer_combine(coset_joint_reducer*, void* const* into, size_t number,
                                                   coset_team* with);
COSET_API coset_status coset_joint_reducer_combine_part(coset_joint_reducer*, void* const* into, size_t number,
                                                        uint32_t part, uint32_t parts);
COSET_API coset_status coset_joint_reducer_reset(coset_joint_reducer*);
COSET_API coset_status coset_joint_reducer_free(coset_joint_reducer*);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*)

#endif
