// SPDX-License-Identifier: Apache-2.0
// Reducers for C. coset.h includes this header and provides what it needs.
#ifndef COSET_COSET_REDUCER_H
#define COSET_COSET_REDUCER_H

// NOLINTBEGIN(modernize-*): it is C.

#include "coset/coset.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An array that threads reduce into without synchronisation, each into a private copy: histograms, forces, gradients.
/// For any threads, in a team or not; see reducers/reducer.hpp.
typedef struct coset_reducer coset_reducer;

/// Begin with `coset_reducer_options options = COSET_REDUCER_OPTIONS;`. Later versions may append to it.
typedef struct coset_reducer_options {
  size_t bytes;        ///< size of this struct when the caller was compiled
  size_t block_bytes;  ///< granularity at which touched elements are tracked; 0: no tracking, unless most_bytes is set
  size_t most_bytes;   ///< limit for all copies together, beyond which threads fold early; 0: no limit
} coset_reducer_options;
#define COSET_REDUCER_OPTIONS \
  { sizeof(coset_reducer_options), 0, 0 }

/// `identity` is an element e with e ∘ x == x; NULL if the operation is a built-in one. `options` may be NULL.
/// COSET_ARGUMENT_ERROR for an operation that does not commute or has no identity.
COSET_API coset_status coset_reducer_create(size_t count, coset_type, coset_operation, void const* identity,
                                            coset_reducer_options const* options, coset_reducer** made);
/// Gives the calling thread its private elements [first, first + count), in a copy that the thread keeps until it ends.
/// They start as the identity. With `most_bytes` they are valid until the thread's next call. Any number of threads may
/// call it at once, inside any parallel region.
COSET_API coset_status coset_reducer_local(coset_reducer*, size_t first, size_t count, void** elements);
/// The same in the copy with this number, for one thread at a time: where threads are numbered, as in OpenMP, results
/// do not depend on which thread came first.
COSET_API coset_status coset_reducer_local_numbered(coset_reducer*, uint32_t number, size_t first, size_t count,
                                                    void** elements);
/// into[i] = into[i] ∘ all values reduced into element i; the copies are empty afterwards. The caller makes sure that
/// all updates come before. `with` does the work, a team that is not running; if it is NULL, the calling thread does.
COSET_API coset_status coset_reducer_combine(coset_reducer*, void* into, coset_team* with);
/// Combines one of `parts` parts, so that the threads of a region share the work after a barrier: each calls it with
/// its own part, counted from 0, and all with the same `into`.
COSET_API coset_status coset_reducer_combine_part(coset_reducer*, void* into, uint32_t part, uint32_t parts);
/// What becomes of the target's own values.
typedef enum coset_combining { COSET_COMBINE_ADD, COSET_COMBINE_ASSIGN } coset_combining;
/// The same by all ranks of a team, which call it as a collective, each with the copy that has the number of the
/// rank in the team (coset_reducer_local_numbered with coset_member_rank). Ranks of a process name the same reducer and the same `into`, which is complete on return.
/// In a team over processes each process has its own two, and gets what the threads of all have reduced.
COSET_API coset_status coset_reducer_combine_ranks(coset_reducer*, void* into, coset_member* me, coset_combining);
/// Discards all reduced values. Call coset_reducer_local() again afterwards.
COSET_API coset_status coset_reducer_reset(coset_reducer*);
/// Call it when no thread uses the reducer any more. Values that were not combined are lost.
COSET_API coset_status coset_reducer_free(coset_reducer*);

/// Several arrays and values that threads reduce into at once: each thread has one copy of all of them, and one call
/// combines them. The rules of reducers hold for each; see reducers/joint_reducer.hpp.
typedef struct coset_joint_reducer coset_joint_reducer;

/// One of these arrays: `{n, COSET_FLOAT64, COSET_PLUS, NULL}`; `identity` as for coset_reducer_create().
typedef struct coset_reduced {
  size_t count;
  coset_type type;
  coset_operation operation;
  void const* identity;
} coset_reduced;

COSET_API coset_status coset_joint_reducer_create(coset_reduced const* things, size_t number,
                                                  coset_joint_reducer** made);
/// elements[k] becomes the calling thread's array k, for `number` arrays.
COSET_API coset_status coset_joint_reducer_local(coset_joint_reducer*, void** elements, size_t number);
/// The same in the copy with this number; `copy` as in coset_reducer_local_numbered().
COSET_API coset_status coset_joint_reducer_local_numbered(coset_joint_reducer*, uint32_t copy, void** elements,
                                                          size_t number);
/// Combines array k into into[k], for `number` arrays. COSET_ARGUMENT_ERROR, without combining anything, if into[k] is
/// NULL and array k has elements.
COSET_API coset_status coset_joint_reducer_combine(coset_joint_reducer*, void* const* into, size_t number,
                                                   coset_team* with);
COSET_API coset_status coset_joint_reducer_combine_part(coset_joint_reducer*, void* const* into, size_t number,
                                                        uint32_t part, uint32_t parts);
/// As coset_reducer_combine_ranks().
COSET_API coset_status coset_joint_reducer_combine_ranks(coset_joint_reducer*, void* const* into, size_t number,
                                                         coset_member* me, coset_combining);
COSET_API coset_status coset_joint_reducer_reset(coset_joint_reducer*);
COSET_API coset_status coset_joint_reducer_free(coset_joint_reducer*);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*)

#endif
