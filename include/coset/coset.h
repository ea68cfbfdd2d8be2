// SPDX-License-Identifier: Apache-2.0
// coset for C: teams of threads as ranks, the collectives, split phase, plans. C11; C++ may include it too.
//
// Functions return a status, and coset_error_message() says more; no exception comes out of them. Results go to the
// last argument. Handles are pointers that the caller gives back by the matching …_free(), which takes NULL as well; a
// handle that is NULL, or freed, is a mistake that only NULL is caught of.
//
// A collective is called by every rank of a team with the same verb, count, type, operation, root and in-place-ness. If
// one is called wrongly, by whichever rank, all ranks get an error, and the team fails until run() ends, all have left,
// or all have called coset_member_reset().
#ifndef COSET_COSET_H
#define COSET_COSET_H

// NOLINTBEGIN(modernize-*): it is C.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coset/visibility.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- version ----

#define COSET_VERSION_MAJOR 0
#define COSET_VERSION_MINOR 1
#define COSET_VERSION_PATCH 0
#define COSET_VERSION (COSET_VERSION_MAJOR * 10000 + COSET_VERSION_MINOR * 100 + COSET_VERSION_PATCH)

/// COSET_VERSION of the library that is loaded.
COSET_API int32_t coset_version(void);

// ---- status ----

typedef int32_t coset_status;
enum {
  COSET_SUCCESS = 0,
  COSET_ARGUMENT_ERROR = 1,  ///< an argument that no call could have served
  COSET_TOPOLOGY_ERROR = 2,  ///< the machine cannot do what was asked
  COSET_MISMATCH_ERROR = 3,  ///< the ranks of a team disagree, or one has left; on every rank
  COSET_SCHEDULE_ERROR = 4,  ///< a schedule that does not exist or does not do what its verb requires
  COSET_ABORTED = 5,         ///< the team was aborted, here or by another rank
  COSET_TIMED_OUT = 6,       ///< a deadline passed
  COSET_BODY_FAILED = 7,     ///< a body returned something of its own other than 0
  COSET_OUT_OF_MEMORY = 8,
  COSET_UNKNOWN_ERROR = 9  ///< an exception of another kind, of a user's C++ function say
};

/// "COSET_SUCCESS" and so on; "unknown status" for other numbers. Never NULL.
COSET_API char const* coset_status_name(coset_status);

/// What the latest failure on the calling thread was, with the values at fault; "" before the first. Never NULL; the text
/// lies there until the thread's next failure. Calls that succeed leave it as it is.
COSET_API char const* coset_error_message(void);

// ---- elements and operations ----

typedef int32_t coset_type;
enum {
  COSET_INT8 = 1,
  COSET_INT16 = 2,
  COSET_INT32 = 3,
  COSET_INT64 = 4,
  COSET_UINT8 = 5,
  COSET_UINT16 = 6,
  COSET_UINT32 = 7,
  COSET_UINT64 = 8,
  COSET_FLOAT16 = 9,    ///< IEEE binary16, as uint16_t; sums and products are kept in float and rounded once
  COSET_BFLOAT16 = 10,  ///< the upper half of a float, likewise
  COSET_FLOAT32 = 11,
  COSET_FLOAT64 = 12,
  COSET_COMPLEX64 = 13,   ///< float _Complex
  COSET_COMPLEX128 = 14,  ///< double _Complex
  COSET_BOOL = 15,        ///< bool of stdbool.h
  COSET_FLOAT32_LOCATION = 16,
  COSET_FLOAT64_LOCATION = 17,
  COSET_INT32_LOCATION = 18,
  COSET_INT64_LOCATION = 19,
  COSET_STRUCT_BASE = 0x10000  ///< plus n: elements of n bytes of your own
};

/// Elements of yours: structs without pointers, of up to 2^30 bytes. They can be moved by every verb that only moves,
/// and reduced with operations of yours for that size.
#define COSET_STRUCT(bytes) ((coset_type)(COSET_STRUCT_BASE + (bytes)))

/// A value and where it stands: what COSET_MINIMUM_LOCATION and COSET_MAXIMUM_LOCATION reduce.
typedef struct coset_float32_location {
  float value;
  int64_t index;
} coset_float32_location;
typedef struct coset_float64_location {
  double value;
  int64_t index;
} coset_float64_location;
typedef struct coset_int32_location {
  int32_t value;
  int64_t index;
} coset_int32_location;
typedef struct coset_int64_location {
  int64_t value;
  int64_t index;
} coset_int64_location;

/// One of the following, or what coset_operation_create() made.
typedef intptr_t coset_operation;
enum {
  COSET_PLUS = 101,  ///< numbers; integers wrap
  COSET_MULTIPLIES = 102,
  COSET_MINIMUM = 103,  ///< real numbers; NaN propagates as the canonical quiet NaN, −0 < +0
  COSET_MAXIMUM = 104,
  COSET_BIT_AND = 105,  ///< integers
  COSET_BIT_OR = 106,
  COSET_BIT_XOR = 107,
  COSET_LOGICAL_AND = 108,  ///< bool and real numbers, as truth values; 1 or 0
  COSET_LOGICAL_OR = 109,
  COSET_LOGICAL_XOR = 110,
  COSET_MINIMUM_LOCATION = 111,  ///< located values; ties take the lowest index
  COSET_MAXIMUM_LOCATION = 112,
  COSET_REPRODUCIBLE_PLUS = 113  ///< float and double: the same bits for any number of ranks, any order, any plan
};

/// left[i] = left[i] ∘ right[i] for i < count. Pure and associative; called by any rank's thread, by several at once.
/// Both arrays are aligned as elements of that size in arrays of the caller are, up to 64 bytes. It may not call coset.
typedef void coset_fold(void* left, void const* right, size_t count, void* context);

enum {
  COSET_NONCOMMUTATIVE = 1,  ///< a ∘ b and b ∘ a differ: applied in the order of the ranks
  COSET_EXACT = 2            ///< the bracketing cannot change a result by a single bit
};

/// An operation of yours on elements of `element_bytes` bytes: structs, or a type above of that size. `flags` is 0 or a sum
/// of those above. `name` is what messages call it and what ranks compare: operations of the same name, size and flags
/// are taken for one, whoever made them; NULL makes a name out of the function's address. `context` is handed to `fold`.
/// Any thread. Keep `fold` and `context` until nothing uses the operation any more.
COSET_API coset_status coset_operation_create(char const* name, coset_fold* fold, void* context, size_t element_bytes,
                                              int32_t flags, coset_operation* made);
/// Requests and plans that use it keep what they need. Built-in operations are left alone.
COSET_API coset_status coset_operation_free(coset_operation);

// ---- teams ----

typedef struct coset_team coset_team;
/// One rank's handle. Only the thread that is this rank may use it.
typedef struct coset_member coset_member;

enum { COSET_COMPACT = 0, COSET_SCATTER = 1, COSET_UNBOUND = 2 };  ///< int32_t: how ranks are placed, see topology.hpp
/// int32_t: what a rank does while it waits for another: spin shortly, then yield, then sleep; or never but one of these.
enum { COSET_WAIT_AUTOMATIC = 0, COSET_WAIT_SPIN = 1, COSET_WAIT_YIELD = 2, COSET_WAIT_BLOCK = 3 };

/// Begin with `coset_team_options options = COSET_TEAM_OPTIONS;`. Later versions may append to it.
typedef struct coset_team_options {
  size_t bytes;    ///< of this struct, as the caller was compiled
  uint32_t ranks;  ///< 0: one per core that this process may use
  int32_t placement;
  int32_t waiting;
  uint32_t processor_count;    ///< 0, or how many `processors` there are: the number of ranks then
  uint32_t const* processors;  ///< explicit: the operating system's processor index of each rank
} coset_team_options;
#define COSET_TEAM_OPTIONS \
  { sizeof(coset_team_options), 0, COSET_COMPACT, COSET_WAIT_AUTOMATIC, 0, NULL }

/// What a rank runs: 0, or an error. A status that a call on this rank has just failed with is passed on as such.
typedef int coset_body(coset_member* me, void* context);

/// A team of P−1 pinned threads of its own; rank 0 is whoever calls coset_team_run(). `options` may be NULL.
/// Ranks that outnumber the processors share them. COSET_TOPOLOGY_ERROR if a processor is unknown or not allowed, or the
/// system starts no thread for a rank or does not let it be pinned: the message names the rank and what would do. Some ms.
COSET_API coset_status coset_team_create(coset_team_options const* options, coset_team** made);
/// A team of `ranks` threads that the caller brings. They join; of the options, only `waiting` counts.
COSET_API coset_status coset_team_adopt(uint32_t ranks, coset_team_options const* options, coset_team** made);
/// Only when no rank is at work and all have left. Free plans and split members of it before.
COSET_API coset_status coset_team_free(coset_team*);

/// Here and in all that return what they tell: nothing of NULL, that is 0, COSET_UNKNOWN_NODE or "".
COSET_API uint32_t coset_team_size(coset_team const*);

/// Runs `body` on every rank and returns when all have ended; the caller is rank 0, pinned meanwhile. The member that a
/// body gets serves until it returns.
///
/// The first body that returns something other than 0 aborts the team, so that no rank waits for it, and makes the
/// result: the status, if one of this rank's calls has failed with it, else COSET_BODY_FAILED with rank and number in the
/// message. The team is usable afterwards. COSET_ARGUMENT_ERROR if called inside a body or by two threads at once.
COSET_API coset_status coset_team_run(coset_team*, coset_body* body, void* context);

/// Adopted teams, collective: the calling thread becomes rank `rank` until it leaves; returns when all ranks have joined.
/// COSET_TIMED_OUT after `nanoseconds` if threads are missing or the rank is still taken.
COSET_API coset_status coset_team_join(coset_team*, uint32_t rank, int64_t nanoseconds, coset_member** me);
/// By the thread that has joined; the member is gone then. One that leaves while an operation of its own is under way
/// aborts the team. Call coset_team_abort() before if you leave because of an error.
COSET_API coset_status coset_team_leave(coset_member* me);

/// Every rank that waits in a collective, or enters one, gets COSET_ABORTED with this reason. From any thread.
COSET_API coset_status coset_team_abort(coset_team*, char const* reason);

/// Makes room for staging of `bytes` per rank ahead of the first call; only while no rank is at work.
/// COSET_ARGUMENT_ERROR naming the bytes if there is no such memory; the team is as before then.
COSET_API coset_status coset_team_reserve(coset_team*, size_t bytes);

// ---- members ----

COSET_API uint32_t coset_member_rank(coset_member const*);
COSET_API uint32_t coset_member_size(coset_member const*);  ///< P, the number of ranks of its team
#define COSET_UNKNOWN_NODE UINT32_MAX
COSET_API uint32_t coset_member_node(coset_member const*);  ///< NUMA node; COSET_UNKNOWN_NODE where it cannot be told

/// Collective: the ranks that pass the same colour become a team of their own, in the order of (key, rank). It fails with
/// the team that it is part of; its members serve until that one's run() or membership ends. Two collectives and the
/// memory of a team.
COSET_API coset_status coset_member_split(coset_member*, int32_t colour, int32_t key, coset_member** part);
/// Collective: the ranks on this rank's node. One team where nodes are unknown.
COSET_API coset_status coset_member_node_team(coset_member*, coset_member** part);
/// Of a member that was split from another, by its thread.
COSET_API coset_status coset_member_free(coset_member*);

/// Collective, after a failure: once all ranks of the team have called it, the team works again. Requests, views and
/// split members of before are void. COSET_TIMED_OUT after `nanoseconds` if ranks are missing, which fails the team for
/// those that come later; COSET_ARGUMENT_ERROR for a split member.
COSET_API coset_status coset_member_reset(coset_member*, int64_t nanoseconds);

/// For wrappers of these functions: this rank's caller has made a mistake that no function here can see. As a wrong call,
/// it gives COSET_ARGUMENT_ERROR with `reason` on every rank, here too; here alone where the member is NULL, as of calls
/// that concern no team.
COSET_API coset_status coset_member_refuse(coset_member*, char const* reason);

// ---- collectives ----
//
// Arrays have `count` elements of `type`, any count, any alignment that such elements have. `out` may be `in`, where that
// is said, and otherwise overlaps neither it nor another rank's arrays. No other thread touches them until return.
// Bits are equal on every rank, and on every run with the same team size and count. After a rank's first call of a shape
// nothing allocates, locks or calls the system, unless a rank has to sleep.
//
// Any of them may return COSET_MISMATCH_ERROR, COSET_ARGUMENT_ERROR (arrays overlap; the operation does not go with the
// type; no such root; NULL for an array of more than nothing) or COSET_ABORTED, on every rank then that has not returned
// before.

/// For `in`, the collective in place: `out` is the whole vector, and what this rank gives, and gets, is at its place there.
/// The same as out == in; in coset_allgather… this rank's piece is in its place of `out`; in coset_reduce_scatter… the
/// input is `out`, and the result comes to this rank's place of it.
#define COSET_IN_PLACE ((void*)-1)

/// out[i] = in[i] of all ranks, reduced, on every rank. In place if all ranks do so.
/// One flag round and (P−1)·m read per rank for m small bytes, two rounds and 2(P−1)/P·m above.
COSET_API coset_status coset_allreduce(coset_member*, void const* in, void* out, size_t count, coset_type,
                                       coset_operation);
/// The same result where it lies in the team's memory, one for each node; of up to 1 KiB, one for each rank. To be read
/// until this rank's next collective call of any kind, coset_start_…() too, or until the body ends or a reset. `in` is not
/// what the last call left.
COSET_API coset_status coset_allreduce_view(coset_member*, void const* in, size_t count, coset_type, coset_operation,
                                            void const** out);
/// The same into one array: `out` is the same on every rank, and not an input. Nothing is written before all have come.
COSET_API coset_status coset_reduce_shared(coset_member*, void const* in, void* out, size_t count, coset_type,
                                           coset_operation);
/// The same on rank `root` only; others' `out` is not looked at. In place by out == in on the root.
COSET_API coset_status coset_reduce(coset_member*, void const* in, void* out, size_t count, coset_type, coset_operation,
                                    uint32_t root);

/// `in` is P·piece elements; out[i] = in[r·piece + i] of all ranks, reduced, on rank r, for i < piece.
/// `out` may be this rank's piece of `in`.
COSET_API coset_status coset_reduce_scatter(coset_member*, void const* in, void* out, size_t piece, coset_type,
                                            coset_operation);
/// The same with a piece of counts[r] elements for rank r, one after the other; the same P counts on every rank.
COSET_API coset_status coset_reduce_scatter_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                                   coset_type, coset_operation);

/// `out` is P·piece elements: rank r's `in`, of `piece`, at r·piece. `in` may be this rank's piece of `out`.
COSET_API coset_status coset_allgather(coset_member*, void const* in, void* out, size_t piece, coset_type);
/// The same with counts[r] elements from rank r; the same P counts on every rank.
COSET_API coset_status coset_allgather_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                              coset_type);

/// Copies rank `root`'s `data` into every other rank's. A rank may return before others have come.
COSET_API coset_status coset_broadcast(coset_member*, void* data, size_t count, coset_type, uint32_t root);

/// Returns when every rank has called it; what they wrote before is visible after.
COSET_API coset_status coset_barrier(coset_member*);

/// out[i] = in[i] of ranks 0 … r, reduced in rank order, on rank r. `out` may be `in`.
COSET_API coset_status coset_scan(coset_member*, void const* in, void* out, size_t count, coset_type, coset_operation);
/// The same of ranks 0 … r−1; rank 0's `out` stays as it is.
COSET_API coset_status coset_exclusive_scan(coset_member*, void const* in, void* out, size_t count, coset_type,
                                            coset_operation);

// ---- split phase ----

/// An operation under way. Declare it without a value: coset_start_…() fills it. Copies mean the same operation.
///
/// Its arrays stay untouched until it is complete. Operations of a member match in the order of their starts, whatever
/// order they are waited for in. Any call of a member that waits or tests advances all its operations; nothing advances
/// them in the background. At most eight are under way per member: the ninth start completes the first. Only the member's
/// thread uses it. A complete request holds nothing; one of nothing but zeros is complete.
typedef struct coset_request {
  uint64_t opaque[4];
} coset_request;

COSET_API coset_status coset_start_allreduce(coset_member*, void const* in, void* out, size_t count, coset_type,
                                             coset_operation, coset_request* started);
COSET_API coset_status coset_start_reduce_shared(coset_member*, void const* in, void* out, size_t count, coset_type,
                                                 coset_operation, coset_request* started);
COSET_API coset_status coset_start_reduce(coset_member*, void const* in, void* out, size_t count, coset_type,
                                          coset_operation, uint32_t root, coset_request* started);
COSET_API coset_status coset_start_reduce_scatter(coset_member*, void const* in, void* out, size_t piece, coset_type,
                                                  coset_operation, coset_request* started);
COSET_API coset_status coset_start_reduce_scatter_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                                         coset_type, coset_operation, coset_request* started);
COSET_API coset_status coset_start_allgather(coset_member*, void const* in, void* out, size_t piece, coset_type,
                                             coset_request* started);
COSET_API coset_status coset_start_allgather_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                                    coset_type, coset_request* started);
COSET_API coset_status coset_start_broadcast(coset_member*, void* data, size_t count, coset_type, uint32_t root,
                                             coset_request* started);
COSET_API coset_status coset_start_barrier(coset_member*, coset_request* started);
COSET_API coset_status coset_start_scan(coset_member*, void const* in, void* out, size_t count, coset_type,
                                        coset_operation, coset_request* started);
COSET_API coset_status coset_start_exclusive_scan(coset_member*, void const* in, void* out, size_t count, coset_type,
                                                  coset_operation, coset_request* started);

/// Advances; *complete says whether the output is there and the arrays are the caller's again.
COSET_API coset_status coset_request_test(coset_request*, bool* complete);
COSET_API coset_status coset_request_wait(coset_request*);
/// *complete is false if that takes longer than `nanoseconds`: no error, the operation stays live, and the next call goes
/// on where it is.
COSET_API coset_status coset_request_wait_for(coset_request*, int64_t nanoseconds, bool* complete);
/// Gives it up. That aborts the team if it is not complete: peers count on this rank. Not needed after a wait.
COSET_API coset_status coset_request_free(coset_request*);

// ---- plans ----

/// A persistent collective: planned once, executed any number of times by every rank of its team.
typedef struct coset_plan coset_plan;

typedef int32_t coset_verb;
enum {
  COSET_VERB_ALLREDUCE = 0,
  COSET_VERB_REDUCE = 1,
  COSET_VERB_REDUCE_SCATTER = 2,
  COSET_VERB_ALLGATHER = 3,
  COSET_VERB_BROADCAST = 4,
  COSET_VERB_SCAN = 5,
  COSET_VERB_EXCLUSIVE_SCAN = 6,
  COSET_VERB_BARRIER = 7,
  COSET_VERB_REDUCE_SHARED = 8
};

enum {
  COSET_SAME_ON_ALL_RANKS = 0,  ///< int32_t: plans whose ranks bracket differently are refused for inexact operations
  COSET_PER_RANK = 1            ///< any valid plan
};

/// Begin with `coset_plan_options options = COSET_PLAN_OPTIONS;`. Later versions may append to it.
typedef struct coset_plan_options {
  size_t bytes;           ///< of this struct, as the caller was compiled
  char const* algorithm;  ///< NULL: "auto"; "direct", "ring", "generalized(radix=4)" … as `coset list` has them
  char const* storage;    ///< NULL: "auto"; "staged", "zero_copy", "output+stream", "pull", "push" …
  int32_t bits;
  uint32_t root;         ///< of reduce and broadcast
  size_t const* counts;  ///< of reduce_scatter and allgather: one per rank; NULL where they are equal
  size_t segment_bytes;  ///< staged so much of the vector at a time; 0: as the library finds best
} coset_plan_options;
#define COSET_PLAN_OPTIONS \
  { sizeof(coset_plan_options), NULL, NULL, COSET_SAME_ON_ALL_RANKS, 0, NULL, 0 }

/// `count` is the length of the whole vector. Verbs that combine nothing do not look at the operation, a barrier not at
/// count and type either. `options` may be NULL. Any thread. COSET_SCHEDULE_ERROR if the algorithm or storage does not exist,
/// is undefined for this many ranks, or does not give the bits required; the message says what would do.
/// COSET_ARGUMENT_ERROR for a root that is no rank and counts that do not add up to `count`.
COSET_API coset_status coset_plan_create(coset_team*, coset_verb, size_t count, coset_type, coset_operation,
                                         coset_plan_options const* options, coset_plan** made);
/// Collective: every rank executes the same plan. `in` and `out` are as the verb's function has them; of a broadcast only
/// `out` counts, of a barrier neither.
COSET_API coset_status coset_plan_execute(coset_plan const*, coset_member*, void const* in, void* out);
/// The same in split phase; the plan outlives the request.
COSET_API coset_status coset_plan_start(coset_plan const*, coset_member*, void const* in, void* out,
                                        coset_request* started);
COSET_API size_t coset_plan_count(coset_plan const*);
/// "direct, staged, forward", for logs. Never NULL; lies there as long as the plan.
COSET_API char const* coset_plan_describe(coset_plan const*);
COSET_API coset_status coset_plan_free(coset_plan*);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*)

#include "coset/coset_reducer.h"

#endif
