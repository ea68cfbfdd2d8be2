// SPDX-License-Identifier: Apache-2.0
// coset for C: teams of threads as ranks, the collectives, split phase, plans. C11; C++ may include it too.
//
// Functions return a status; coset_error_message() says more. No exception leaves them. Results go to the last
// argument. Handles are pointers that the caller gives back with the matching …_free(), which also accepts NULL.
// Passing a NULL or a freed handle is a mistake, of which only NULL is detected.
//
// Every rank of a team calls a collective with the same verb, count, type, operation, root and in-place-ness. If any
// rank makes a wrong call, all ranks get an error, and the team keeps failing until run() ends, all ranks have left, or
// all ranks have called coset_member_reset().
#ifndef COSET_COSET_H
#define COSET_COSET_H

// NOLINTBEGIN(modernize-*): it is C.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coset/detail/version.h"
#include "coset/detail/visibility.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- version ----

/// COSET_VERSION of the loaded library.
COSET_API int32_t coset_version(void);

// ---- status ----

typedef int32_t coset_status;
enum {
  COSET_SUCCESS = 0,
  COSET_ARGUMENT_ERROR = 1,  ///< an invalid argument
  COSET_TOPOLOGY_ERROR = 2,  ///< the machine cannot do what the call asks
  COSET_MISMATCH_ERROR = 3,  ///< the ranks of a team disagree, or one has left; every rank gets it
  COSET_SCHEDULE_ERROR = 4,  ///< the schedule does not exist or does not do what its verb requires
  COSET_ABORTED = 5,         ///< the team was aborted, here or by another rank
  COSET_TIMED_OUT = 6,       ///< a deadline passed
  COSET_BODY_FAILED = 7,     ///< a body returned a value of its own other than 0
  COSET_OUT_OF_MEMORY = 8,
  COSET_UNKNOWN_ERROR = 9,  ///< another exception, from a user's C++ function for example
  COSET_MPI_ERROR = 10      ///< of teams over processes: MPI failed, or a process did not answer; see coset_mpi.h
};

/// "COSET_SUCCESS" and so on; "unknown status" for other numbers. Never NULL.
COSET_API char const* coset_status_name(coset_status);

/// Describes the latest failure on the calling thread, with the values at fault; "" before the first failure. Never
/// NULL. The text stays valid until the thread's next failure; calls that succeed leave it as it is.
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
  COSET_STRUCT_BASE = 0x10000  ///< plus n: your own elements of n bytes
};

/// Your own elements: structs without pointers, up to 2^30 bytes. Every verb that only moves elements accepts them;
/// operations that you create for that size reduce them.
#define COSET_STRUCT(bytes) ((coset_type)(COSET_STRUCT_BASE + (bytes)))

/// A value and its index: the elements of COSET_MINIMUM_LOCATION and COSET_MAXIMUM_LOCATION.
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

/// One of the following, or an operation made by coset_operation_create().
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

/// left[i] = left[i] ∘ right[i] for i < count. Pure and associative. Any rank's thread calls it, several at once. Both
/// arrays are aligned like the caller's arrays of elements of that size, up to 64 bytes. It may not call coset.
typedef void coset_fold(void* left, void const* right, size_t count, void* context);

enum {
  COSET_NONCOMMUTATIVE = 1,  ///< a ∘ b and b ∘ a differ: applied in rank order
  COSET_EXACT = 2            ///< the bracketing cannot change any bit of a result
};

/// Creates an operation on elements of `element_bytes` bytes: structs, or a type above of that size. `flags` is 0 or a
/// sum of the flags above. Messages show `name`, and ranks compare it: operations with the same name, size and flags
/// count as the same operation, whoever made them. NULL makes a name from the function's address. `context` is passed
/// to `fold`. Any thread may call it. Keep `fold` and `context` until nothing uses the operation any more.
COSET_API coset_status coset_operation_create(char const* name, coset_fold* fold, void* context, size_t element_bytes,
                                              int32_t flags, coset_operation* made);
/// Requests and plans that use the operation keep what they need of it. Built-in operations are not affected.
COSET_API coset_status coset_operation_free(coset_operation);

// ---- teams ----

typedef struct coset_team coset_team;
/// One rank's handle. Only the thread that is this rank may use it.
typedef struct coset_member coset_member;

enum { COSET_COMPACT = 0, COSET_SCATTER = 1, COSET_UNBOUND = 2 };  ///< int32_t: how ranks are placed, see topology.hpp
/// int32_t: how a rank waits for another: it spins briefly, then yields, then sleeps; or it does only one of these.
enum { COSET_WAIT_AUTOMATIC = 0, COSET_WAIT_SPIN = 1, COSET_WAIT_YIELD = 2, COSET_WAIT_BLOCK = 3 };

/// Begin with `coset_team_options options = COSET_TEAM_OPTIONS;`. Later versions may append to it.
typedef struct coset_team_options {
  size_t bytes;    ///< size of this struct when the caller was compiled
  uint32_t ranks;  ///< 0: one per core that this process may use
  int32_t placement;
  int32_t waiting;
  uint32_t processor_count;    ///< 0, or the length of `processors`, which is then the number of ranks
  uint32_t const* processors;  ///< explicit: the operating system's processor index of each rank
} coset_team_options;
#define COSET_TEAM_OPTIONS \
  { sizeof(coset_team_options), 0, COSET_COMPACT, COSET_WAIT_AUTOMATIC, 0, NULL }

/// The function that each rank runs. It returns 0 or an error; a status with which one of this rank's calls has just
/// failed is passed on.
typedef int coset_body(coset_member* me, void* context);

/// A team with P−1 pinned threads of its own; rank 0 is the thread that calls coset_team_run(). `options` may be NULL.
/// Ranks that outnumber the processors share them. COSET_TOPOLOGY_ERROR if a processor is unknown or not allowed, or if
/// the system cannot start or pin a rank's thread: the message names the rank and a remedy. Cost:
/// some ms for the first of a process, up to 300 us for another, and 10 us where one alike has just been destroyed.
COSET_API coset_status coset_team_create(coset_team_options const* options, coset_team** made);
/// A team of `ranks` threads that the caller provides and that join. Of the options, only `waiting` is used.
COSET_API coset_status coset_team_adopt(uint32_t ranks, coset_team_options const* options, coset_team** made);
/// Call it only when no rank is at work and all ranks have left. Free the team's plans and split members first.
COSET_API coset_status coset_team_free(coset_team*);

/// This and every other function that returns a property accepts NULL, and then returns 0, COSET_UNKNOWN_NODE or "".
COSET_API uint32_t coset_team_size(coset_team const*);

/// Runs `body` on every rank and returns when all bodies have ended. The caller is rank 0 and pinned meanwhile. The
/// member that a body gets is valid until that body returns.
///
/// The first body that returns something other than 0 aborts the team, so that no rank waits for it. That value decides
/// the result: the returned status if one of this rank's calls has failed with it, else COSET_BODY_FAILED with the rank
/// and the value in the message. The team is usable afterwards. COSET_ARGUMENT_ERROR if called inside a body or by two
/// threads at once. In a forked child all that is done with its parent's teams, members, requests and plans is
/// COSET_ARGUMENT_ERROR, and freeing them does nothing; see team.hpp.
COSET_API coset_status coset_team_run(coset_team*, coset_body* body, void* context);

/// Adopted teams, collective: the calling thread becomes rank `rank` until it leaves. Returns when all ranks have
/// joined; `*me` is NULL if they have not. COSET_TIMED_OUT after `nanoseconds` if threads are missing or the rank is still taken; COSET_ARGUMENT_ERROR at
/// once in an OpenMP region of fewer threads than the team has ranks.
COSET_API coset_status coset_team_join(coset_team*, uint32_t rank, int64_t nanoseconds, coset_member** me);
/// Called by the thread that has joined; the member is invalid afterwards. A rank that leaves while one of its
/// operations is under way aborts the team. Before you leave because of an error, call coset_team_abort().
COSET_API coset_status coset_team_leave(coset_member* me);

/// Every rank that waits in a collective, or enters one, gets COSET_ABORTED with this reason. Any thread may call it.
COSET_API coset_status coset_team_abort(coset_team*, char const* reason);

/// Writes to a file descriptor (2: standard error) where the team's ranks are: in what operation they wait, for whom and for
/// how long, or which they began last. Any thread may call it at any time while the team lives, but no signal handler; it
/// takes no lock of coset's and keeps no rank waiting. COSET_ARGUMENT_ERROR if it cannot be written.
COSET_API coset_status coset_dump(coset_team*, int32_t descriptor);

/// Reserves staging memory of `bytes` per rank ahead of the first call. Call it only while no rank is at work.
/// COSET_ARGUMENT_ERROR naming the bytes if there is not enough memory; the team then stays as it was.
COSET_API coset_status coset_team_reserve(coset_team*, size_t bytes);

/// Ends the threads of teams that have been freed, which wait a while for the next team alike: see team.hpp. Returns once they have
/// ended.
COSET_API void coset_end_idle_teams(void);

// ---- members ----

COSET_API uint32_t coset_member_rank(coset_member const*);
COSET_API uint32_t coset_member_size(coset_member const*);  ///< P, the number of ranks of its team
#define COSET_UNKNOWN_NODE UINT32_MAX
COSET_API uint32_t coset_member_node(coset_member const*);  ///< NUMA node; COSET_UNKNOWN_NODE where it cannot be told

/// Collective: the ranks that pass the same colour become a team of their own, ordered by (key, rank). The new team
/// fails when its parent team fails; its members are valid until the parent's run() or membership ends. Cost: two
/// collectives and the memory of a team.
COSET_API coset_status coset_member_split(coset_member*, int32_t colour, int32_t key, coset_member** part);
/// Collective: splits the team into one team for the ranks of each node. One team where nodes are unknown.
COSET_API coset_status coset_member_node_team(coset_member*, coset_member** part);
/// Frees a member that was split from another. Called by the member's own thread.
COSET_API coset_status coset_member_free(coset_member*);

/// Collective, after a failure: once all ranks of the team have called it, the team works again. Earlier requests,
/// views and split members are void. COSET_TIMED_OUT after `nanoseconds` if ranks are missing, and then the call fails
/// for those that come later; COSET_ARGUMENT_ERROR for a split member.
COSET_API coset_status coset_member_reset(coset_member*, int64_t nanoseconds);

/// For wrappers of these functions: reports a mistake of this rank's caller that these functions cannot see. Like a
/// wrong call, it gives COSET_ARGUMENT_ERROR with `reason` on every rank, including this one; only on this one where
/// the member is NULL, as in calls that concern no team.
COSET_API coset_status coset_member_refuse(coset_member*, char const* reason);

// ---- collectives ----
//
// Arrays have `count` elements of `type`: any count, any alignment that such elements allow. `out` may be `in` where
// the comment says so; otherwise it overlaps neither `in` nor another rank's arrays. No other thread touches the arrays
// until return. Bits are equal on every rank, and on every run with the same team size and count. After a rank's first
// call of a shape, calls do not allocate, take locks or enter the system, unless a rank has to sleep.
//
// Each may return COSET_MISMATCH_ERROR, COSET_ARGUMENT_ERROR (arrays overlap; the operation does not fit the type; no
// such root; NULL for an array with elements) or COSET_ABORTED, on every rank that has not returned by then.

/// Passed for `in`, it makes the collective work in place: `out` is the whole vector and holds this rank's input and
/// result. The same as out == in. In coset_allgather… this rank's piece is at its place in `out`; in
/// coset_reduce_scatter… the input is `out`, and the result goes to this rank's place in it.
#define COSET_IN_PLACE ((void*)-1)

/// out[i] = in[i] of all ranks, reduced, on every rank. In place only if all ranks call it in place. Cost: one flag
/// round and (P−1)·m read per rank for small arrays of m bytes, two rounds and 2(P−1)/P·m for larger ones.
COSET_API coset_status coset_allreduce(coset_member*, void const* in, void* out, size_t count, coset_type,
                                       coset_operation);
/// The same, but returns a pointer to the result in the team's memory: one per rank while those of all take no more than 8 MiB,
/// else one per node and process. It may be read until this rank's next collective call of any kind, including
/// coset_start_…(), or until the body ends or a reset. `in` may not be the result of the last call.
COSET_API coset_status coset_allreduce_view(coset_member*, void const* in, size_t count, coset_type, coset_operation,
                                            void const** out);
/// The same into one shared array: `out` is the same array on every rank of a process, and not an input. Nothing is written
/// before all of these have come.
COSET_API coset_status coset_reduce_shared(coset_member*, void const* in, void* out, size_t count, coset_type,
                                           coset_operation);
/// The same, but only rank `root` gets the result; other ranks' `out` is ignored. In place if out == in on the root.
COSET_API coset_status coset_reduce(coset_member*, void const* in, void* out, size_t count, coset_type, coset_operation,
                                    uint32_t root);

/// `in` is P·piece elements; out[i] = in[r·piece + i] of all ranks, reduced, on rank r, for i < piece.
/// `out` may be this rank's piece of `in`.
COSET_API coset_status coset_reduce_scatter(coset_member*, void const* in, void* out, size_t piece, coset_type,
                                            coset_operation);
/// The same with a piece of counts[r] elements for rank r, one after the other; the same P counts on every rank.
COSET_API coset_status coset_reduce_scatter_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                                   coset_type, coset_operation);

/// Gathers all pieces: `out` is P·piece elements and gets rank r's `in`, of `piece` elements, at r·piece. `in` may be
/// this rank's piece of `out`.
COSET_API coset_status coset_allgather(coset_member*, void const* in, void* out, size_t piece, coset_type);
/// The same with counts[r] elements from rank r; the same P counts on every rank.
COSET_API coset_status coset_allgather_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                              coset_type);

/// Copies rank `root`'s `data` into every other rank's. A rank may return before other ranks have come.
COSET_API coset_status coset_broadcast(coset_member*, void* data, size_t count, coset_type, uint32_t root);

/// Returns when every rank has called it. What the ranks wrote before is visible afterwards.
COSET_API coset_status coset_barrier(coset_member*);

/// out[i] = in[i] of ranks 0 … r, reduced in rank order, on rank r. `out` may be `in`.
COSET_API coset_status coset_scan(coset_member*, void const* in, void* out, size_t count, coset_type, coset_operation);
/// The same over ranks 0 … r−1; rank 0's `out` stays as it is.
COSET_API coset_status coset_exclusive_scan(coset_member*, void const* in, void* out, size_t count, coset_type,
                                            coset_operation);

// ---- split phase ----

/// An operation under way. Declare it without a value: coset_start_…() fills it. Copies refer to the same operation.
///
/// The operation's arrays stay untouched until it is complete. Operations of a member match in the order in which they
/// start, in whatever order they are waited for. Any call of a member that waits or tests advances all its operations;
/// nothing advances them in the background. At most eight are under way per member: the ninth start completes the
/// first. Only the member's thread uses a request. A complete request holds no resources; a request of zero bytes is
/// complete.
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

/// Advances the operation. *complete says whether the output is ready and the arrays belong to the caller again.
COSET_API coset_status coset_request_test(coset_request*, bool* complete);
COSET_API coset_status coset_request_wait(coset_request*);
/// *complete is false if that takes longer than `nanoseconds`. This is no error: the operation stays live, and the next
/// call continues it.
COSET_API coset_status coset_request_wait_for(coset_request*, int64_t nanoseconds, bool* complete);
/// Gives the operation up. If it is not complete, this aborts the team, as other ranks depend on this one. Not needed
/// after a wait.
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
  COSET_SAME_ON_ALL_RANKS = 0,  ///< int32_t: refuses plans whose ranks bracket differently if the operation is inexact
  COSET_PER_RANK = 1            ///< any valid plan
};

/// Begin with `coset_plan_options options = COSET_PLAN_OPTIONS;`. Later versions may append to it.
typedef struct coset_plan_options {
  size_t bytes;           ///< size of this struct when the caller was compiled
  char const* algorithm;  ///< NULL: "auto"; "direct", "ring", "generalized(radix=4)" …, see `coset list`
  char const* storage;    ///< NULL: "auto"; "staged", "zero_copy", "output+stream", "pull", "push" …
  int32_t bits;
  uint32_t root;         ///< of reduce, broadcast, gather and scatter
  size_t const* counts;  ///< of what has pieces, but for all_to_all: one per rank; NULL if all are equal
  size_t segment_bytes;  ///< bytes of the vector staged at a time; 0: the library chooses
} coset_plan_options;
#define COSET_PLAN_OPTIONS \
  { sizeof(coset_plan_options), NULL, NULL, COSET_SAME_ON_ALL_RANKS, 0, NULL, 0 }

/// `count` is the length of the whole vector. Verbs that combine nothing ignore the operation; a barrier also ignores
/// count and type. `options` may be NULL. Any thread may call it. COSET_SCHEDULE_ERROR if the algorithm or storage does
/// not exist, is undefined for this many ranks, or does not give the required bits; the message names a remedy.
/// COSET_ARGUMENT_ERROR if the root is no rank or the counts do not add up to `count`.
COSET_API coset_status coset_plan_create(coset_team*, coset_verb, size_t count, coset_type, coset_operation,
                                         coset_plan_options const* options, coset_plan** made);
/// Collective: every rank executes the same plan. `in` and `out` are those of the verb's function; a broadcast uses
/// only `out`, a barrier neither.
COSET_API coset_status coset_plan_execute(coset_plan const*, coset_member*, void const* in, void* out);
/// The same in split phase. The plan must outlive the request.
COSET_API coset_status coset_plan_start(coset_plan const*, coset_member*, void const* in, void* out,
                                        coset_request* started);
COSET_API size_t coset_plan_count(coset_plan const*);
/// "direct, staged, forward", for logs. Never NULL; valid as long as the plan.
COSET_API char const* coset_plan_describe(coset_plan const*);
COSET_API coset_status coset_plan_free(coset_plan*);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*)

#include "coset/coset_reducer.h"
#include "coset/verbs/coset_pieces.h"

#endif
