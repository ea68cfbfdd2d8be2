// SPDX-License-Identifier: Apache-2.0
// The type-erased reducer beneath the typed ones: private copies of arrays, and their folds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coset/detail/reduction.hpp"
#include "coset/detail/visibility.h"
#include "coset/reducers/destination.hpp"
#include "coset/reducers/started_combination.hpp"
#include "coset/topology.hpp"
#include "coset/updates/options.hpp"

namespace coset::inline COSET_ABI {

/// What a combination does with the target's values: it uses them as the first operand, or replaces them.
enum class combining : std::uint8_t { add, assign };

/// How a sparse reducer keeps its private copies.
struct sparse_options {
  /// The granularity at which touched elements are tracked, in bytes; rounded to a power of two of elements. 0: 512 B,
  /// and a cache line for arrays of 64 MiB and more, where misses cost more than marks.
  std::size_t block_bytes = 0;
  /// Limit for the memory of all private copies and kept updates together, in bytes; 0: none. A thread that needs more than
  /// is left brings what it has to a total that all threads share, under locks, and continues. The order in which threads do
  /// so varies, so the bits of floating-point sums vary too; blocks are then pages. Each thread may always use 64 KiB, or
  /// a fiftieth of the limit for updates, and the shared total does not count. Updates are kept only under limits of 32 MiB and
  /// more, and then in each round.
  std::size_t most_bytes = 0;
  /// How threads reduce: private_copies in blocks, or partition, by keeping updates for later; chosen: see sparse_reducer.
  /// Others throw argument_error, and partition does for elements of more than 252 bytes and for reproducible_plus.
  way by = way::chosen;
  memory_kind memory = memory_kind::automatic;  ///< of copies, unless there is a limit
};

namespace detail {

class reducer_core;
class update_chunks;
struct rank_state;
struct team_state;

/// What an access to a sparse reducer's copy does in addition. Untouched blocks hold the identity; with fills_late they
/// hold nothing yet. Dense copies are not tracked: none.
enum class tracking : std::uint8_t { none, marks, fills_late };

/// Not a character type, so that a store through it cannot alias the arrays beside it.
enum class mark : std::uint8_t { untouched = 0, touched = 1 };

/// As many marks as lie on a cache line: who touches one of them has fetched all.
inline constexpr unsigned group_shift = 6;

/// One thread's copy of all arrays, as its accessors see it. Sparse ones may have no memory yet.
struct private_copy {
  std::byte* data = nullptr;     ///< the array with index k begins at data + offset_of(core, k)
  mark* touched = nullptr;       ///< [block], sparse only
  mark* groups = nullptr;        ///< [block / blocks_of_group]: whether any may be touched
  std::uint64_t generation = 0;  ///< the contents count only if it equals the reducer's
};

/// What a sparse reducer does with updates that are kept for later. Nothing where they cannot be.
struct update_code {
  std::size_t record_bytes = 0;
  /// Into the array `into`, in order, all updates of a part of 2^shift elements.
  void (*apply_part)(void const* operation, update_chunks const&, std::size_t part, unsigned shift,
                     void* into) = nullptr;
};

/// A reducer's array without its types.
struct reduced_array {
  std::size_t count = 0;
  reduction_table const* reduction = nullptr;
  std::shared_ptr<void const> operation;  ///< the context that folds get
  std::shared_ptr<void const> identity;   ///< one element
  void (*fill)(void const* element, std::size_t element_bytes, void* to, std::size_t count) = nullptr;
  update_code later = {};
};

/// How an accessor reaches one thread's part of a sparse reducer. Stays good when copies are combined.
struct sparse_access {
  bool keeps_updates = false;
  bool fills_late = false;  ///< untouched blocks hold nothing yet
  unsigned shift = 0;       ///< a block, or a part of kept updates, has 2^shift elements
  std::byte* at = nullptr;  ///< elements
  mark* touched = nullptr;  ///< as in private_copy
  mark* groups = nullptr;
  std::byte** ends = nullptr;  ///< [part]: behind the latest update that is kept
};

/// Throws argument_error for more elements than can exist and for operations that do not commute. `is_logged`: what it makes is
/// told with COSET_LOG=plan.
COSET_API std::shared_ptr<reducer_core> make_reducer(std::vector<reduced_array>, bool is_logged = true);
COSET_API std::shared_ptr<reducer_core> make_sparse_reducer(reduced_array, sparse_options const&);

/// Memory of this kind for all copies; before there are any. Throws argument_error for a kind that does not exist.
COSET_API void place_copies(reducer_core&, memory_kind);

/// From now on members of this team alone combine it, and nobody without a member where the team has several processes.
COSET_API void serve(reducer_core&, team_state const&) noexcept;

/// The offset of array `index` in each copy, in bytes; a multiple of the cache line.
COSET_API std::size_t offset_of(reducer_core const&, std::size_t index) noexcept;
/// The base-2 logarithm of the number of elements in a sparse reducer's block.
COSET_API unsigned block_shift(reducer_core const&) noexcept;
/// What folds get as the operation of array `index`.
COSET_API void const* operation_of(reducer_core const&, std::size_t index = 0) noexcept;
COSET_API detail::tracking tracking_of(reducer_core const&) noexcept;

/// The calling thread's copy, made if it has none; or the copy with this number, whichever thread calls. Ready for the
/// current generation.
COSET_API private_copy& copy_of_this_thread(reducer_core&);
COSET_API private_copy& copy_numbered(reducer_core&, std::uint32_t number);
/// The copy with this number for the calling thread alone, until claims are renewed; if another thread has claimed it,
/// the thread's own copy.
COSET_API private_copy& copy_claimed(reducer_core&, std::uint32_t number);

/// A thread may reuse a copy that it got under this key without asking again. No two reducers ever have the same key.
/// It changes only while no thread asks for a copy.
COSET_API std::uint64_t const& key_of(reducer_core const&) noexcept;
/// Ends all claims if a thread found the copy of its number claimed, as thread numbers have then changed. Called by one
/// thread, while no thread asks for a copy.
COSET_API void renew_claims(reducer_core&) noexcept;

/// How a thread got a copy: as its own, or by a number, claimed or not.
inline constexpr std::uint64_t as_own = 0;
constexpr std::uint64_t by_claim(std::uint32_t number) { return 1 + std::uint64_t{2} * number; }
constexpr std::uint64_t by_number(std::uint32_t number) { return 2 + std::uint64_t{2} * number; }

/// The copies that the calling thread got last. Reducers share eight entries, so that a lookup takes a few
/// instructions; an entry that was overwritten costs a call.
struct recent_copy {
  std::uint64_t key = 0;  ///< 0: no reducer's
  std::uint64_t how = as_own;
  std::byte* data = nullptr;
};
inline constexpr unsigned key_bits_of_claims = 16, recent_copies_kept = 8;
COSET_PER_COPY inline constinit thread_local std::array<recent_copy, recent_copies_kept> recent_copies = {};

/// The data of the thread's recent copy; calls get() for a private_copy if the recent one is another's.
template <class Get>
inline std::byte* recent_or(std::uint64_t const& key, std::uint64_t how, Get get) {
  recent_copy& last = recent_copies[(key >> key_bits_of_claims) % recent_copies_kept];
  if (last.key != key || last.how != how) [[unlikely]] {
    std::byte* const data = get().data;
    last = {key, how, data};
  }
  return last.data;
}

/// Marks blocks [first, first + blocks) of a sparse reducer's copy as touched; fills them with the identity if they are
/// empty.
COSET_API void touch(reducer_core&, private_copy&, std::size_t first, std::size_t blocks = 1);

/// The way in which the copy's thread reduces in this round; gives it the memory for that.
COSET_API sparse_access access_of(reducer_core&, private_copy&);
/// Where the next update of this part goes, as its chunk is full. Throws std::bad_alloc, and has lost nothing then.
COSET_API std::byte* next_chunk(reducer_core&, private_copy&, std::size_t part);

/// Around a combination by one thread, or by tasks that it waits for: throws argument_error if another one is under way,
/// as values would be lost. fold_part() with one part has it.
class COSET_API sole_combination {
 public:
  explicit sole_combination(reducer_core&);
  ~sole_combination();
  sole_combination(sole_combination const&) = delete;
  sole_combination& operator=(sole_combination const&) = delete;

 private:
  reducer_core& of_;
};

/// Folds part `part` of `parts` of all copies into the arrays `into`, one per array of the reducer, or into the
/// reducer's own totals if `into` is null. Leaves the copies empty. Parts are disjoint, so they may be folded at the
/// same time. Throws argument_error for a part that does not exist, and for an array that is null.
COSET_API void fold_part(reducer_core&, void* const* into, std::size_t part, std::size_t parts,
                         combining = combining::add);

/// Whether fold_round() by this many threads has the same effect as fold_part() and is faster: each thread has the copy
/// of its own number, there are no other copies, and no blocks are tracked. Do not call it while copies are being made.
COSET_API bool should_fold_round(reducer_core const&, std::size_t threads, combining) noexcept;

/// Called by one thread, after all threads have left the previous round and before any enters the next.
COSET_API void begin_round(reducer_core&) noexcept;
/// Folds the calling thread's copy into `into` and empties it, part by part: into each part after the previous thread
/// has folded its own copy there. All threads call it at the same time, once a round has begun. If an operation throws
/// on one thread, the others return as soon as they would wait for that thread.
COSET_API void fold_round(reducer_core&, void* const* into, std::size_t thread, std::size_t threads,
                          combining = combining::add);

/// How a thread of a parallel region comes to a combination.
enum class arriving : std::uint8_t {
  waits,         ///< until it is done
  polls,         ///< the same without anybody who looks on
  meets,         ///< waits until all have come
  passes_first,  ///< does not wait, and is the first of its region to come
  passes         ///< does not wait, and is a later one
};
struct arrival {
  std::uint64_t round;
  bool last;  ///< all threads have come, and what they have reduced is visible here
};
/// Counts the threads that come, whose runtime's barrier would wait for the missing ones in silence: a wait of more than
/// COSET_STUCK is told on standard error, one of more than COSET_TIMEOUT ends the program. Throws mismatch_error if those
/// who have come make another call, or came in a region that is over.
COSET_API arrival arrive(reducer_core&, std::uint32_t threads, arriving);
/// After a barrier behind an arrival: throws mismatch_error if it was not for the combination that threads met there.
COSET_API void require_complete(reducer_core&, arrival);
/// Outside regions: throws mismatch_error if some threads came to a combination, and others did not.
COSET_API void require_no_arrivals(reducer_core&);

/// Folds all copies into `into`, arrays of these lengths, by all ranks of a team. Collective.
COSET_API void fold_by_ranks(reducer_core&, void* const* into, std::size_t const* lengths, rank_state&,
                             combining = combining::add, destination const& = {});

/// For combine_over_processes(), by the only rank of a process: its reducer's total holds everything.
inline constexpr std::uint32_t just_the_total = ~std::uint32_t{0};

/// The same in a team over processes, each of which has a reducer of its own: each process's `into` gets what the threads of
/// all have reduced. Every rank brings the copy with the number `own`, which are as consecutive as the ranks of its process,
/// and its share of the copies that other threads have: it folds them into its own, or takes one of them in its place.
COSET_API void combine_over_processes(reducer_core&, void* const* into, rank_state&, std::uint32_t own, combining,
                                      destination const& = {});

/// The same where first ranks of processes have worked on `into` itself, and have no copy: the total of all replaces it. Only
/// every process can have it.
COSET_API void combine_in_place_over_processes(reducer_core&, void* const* into, rank_state&, std::uint32_t own,
                                               destination const&);

/// The same in split phase: in any team whose ranks of a process name one target. Of a sparse reducer what is exchanged has
/// come when this returns, and the rank's share of the target is complete; what is left to wait for is the other ranks of the
/// process. Where the whole array travels, as most of it was touched, it does so in split phase.
COSET_API started_combination start_combination(reducer_core&, void* const* into, std::size_t const* lengths,
                                                rank_state&, std::uint32_t own, combining);

/// Returns when all threads of the region have come; leaves by the team's failure, which may keep others from coming: those
/// that heard of it sooner are at the region's end. Before a barrier that would wait for them.
COSET_API void come_as_rank(reducer_core&, std::uint32_t threads, rank_state&);
/// Refuses a copy that is an input of a combination in split phase.
COSET_API void require_not_under_way(reducer_core&, rank_state&, std::uint32_t own);
/// Why threads of such a region cannot be a process's ranks.
COSET_API std::string not_a_region_of(std::size_t threads, int level, std::size_t present);

/// How many threads may fold this many copies with profit: 1 if one thread finishes before others would be woken.
COSET_API std::size_t worthwhile_parts(reducer_core const&, std::size_t copies) noexcept;

/// Whether this many threads outnumber the processors that the process could use at the first call.
COSET_API bool share_processors(std::size_t threads);

/// Whether any thread has ever reduced. Do not call it while copies are being made.
COSET_API bool has_copies(reducer_core const&) noexcept;

/// The copy that holds the reducer's own totals of all elements; made if it does not exist.
COSET_API private_copy& total_of(reducer_core&);

/// Elements [first, first + count) of a reducer of one array, their blocks touched, with all updates that were kept. From now
/// on the copy's thread keeps none, and after the next combination no thread does. Throws argument_error for elements that it
/// does not have.
COSET_API std::byte* elements_of(reducer_core&, private_copy&, std::size_t first, std::size_t count);

COSET_API void reset(reducer_core&) noexcept;
COSET_API std::string describe(reducer_core const&);

/// Refuses arrays whose lengths differ from the reducer's, naming both.
COSET_API void require_lengths(reducer_core const&, std::size_t const* lengths);

}  // namespace detail
}  // namespace coset
