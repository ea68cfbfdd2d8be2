// SPDX-License-Identifier: Apache-2.0
// Private copies of arrays, and the total that they are folded into early where memory is capped.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/text/log.hpp"
#include "coset/detail/private_copy.hpp"
#include "numa/process/fork.hpp"
#include "reducer/arrivals.hpp"
#include "reducer/owned_copy.hpp"
#include "reducer/pool.hpp"
#include "reducer/processes/wire.hpp"
#include "reducer/sparse/way.hpp"
#include "runtime/modes/floating_point_mode.hpp"

namespace coset::reducer_room {

/// One of the arrays of a reducer.
struct part_of_copy {
  detail::reduced_array array;
  std::size_t offset = 0;  ///< in each copy
  bool zero = false;       ///< whether the identity's bytes are zeros

  std::size_t element_bytes() const noexcept { return array.reduction->element_bytes; }
  void fill(std::byte* copy, std::size_t begin, std::size_t elements) const {
    std::byte* const at = copy + offset + begin * element_bytes();
    if (zero) {
      std::memset(at, 0, elements * element_bytes());
    } else {
      array.fill(array.identity.get(), element_bytes(), at, elements);
    }
  }
};

}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

/// While it exists, what this rank does with others is told as combine(), which the program has called.
class told_as_combine {
 public:
  told_as_combine(rank_state&, combining) noexcept;
  ~told_as_combine();
  told_as_combine(told_as_combine const&) = delete;
  told_as_combine& operator=(told_as_combine const&) = delete;

 private:
  rank_state& me_;
};

/// What is wrong with a combination by ranks reaches all of them.
void require_arguments(reducer_core const&, void* const* into, std::size_t const* lengths, rank_state&, combining);

class reducer_core : public std::enable_shared_from_this<reducer_core> {
 public:
  explicit reducer_core(std::vector<reduced_array>);
  reducer_core(reduced_array, sparse_options const&);
  /// Dense copies go to the next reducer of about their size. Says which values are lost.
  ~reducer_core();
  /// Before there are copies.
  void place(memory_kind);

  std::uint64_t id() const noexcept { return id_; }
  std::uint64_t const& key() const noexcept { return key_; }
  std::vector<reducer_room::part_of_copy> const& parts() const noexcept { return parts_; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Of a sparse reducer's only array.
  reducer_room::blocks const& shape() const noexcept { return shape_; }
  detail::tracking tracking() const noexcept { return tracking_; }
  /// See serve().
  void serve(team_state const& team, std::size_t processes) noexcept {
    served_ = &team;
    processes_served_ = processes;
  }
  bool serves(team_state const& team) const noexcept { return served_ == nullptr || served_ == &team; }
  /// Of those who combine without a member.
  void require_one_process() const {
    if (processes_served_ > 1) [[unlikely]]
      refuse_one_process();
  }

  /// Whoever folds copies does it in the mode of the thread that has made this.
  runtime::floating_point_mode const& mode() const noexcept { return mode_; }
  arithmetic computes() const noexcept { return computes_; }
  bool capped() const noexcept { return most_bytes_ != 0; }
  std::uint64_t generation() const noexcept { return generation_; }

  /// A copy for a thread that has none: one that a thread of this node has left, or a new one. From any thread.
  private_copy& take();
  void give_back(private_copy&) noexcept;
  private_copy& numbered(std::uint32_t number);
  /// Null if another thread has claimed it.
  private_copy* claimed(std::uint32_t number, void const* thread);
  void renew_claims() noexcept {
    if (claims_.exchange(claims::kept, std::memory_order_relaxed) == claims::missed) change_key();
  }

  /// Empties a copy of an earlier generation. Called by its thread.
  void renew(private_copy& copy) {
    if (copy.generation != generation_) [[unlikely]]
      empty(copy);
  }

  void touch(private_copy&, std::size_t first, std::size_t number);

  /// Of sparse reducers, by the copy's thread; see access_of() and the like.
  sparse_access access(private_copy&);
  std::byte* next_chunk(private_copy&, std::size_t part);
  void make_plain(private_copy&);
  reducer_room::way_choice& ways() noexcept { return ways_; }
  reducer_room::way_choice const& ways() const noexcept { return ways_; }
  /// Of one part what a thread keeps: its updates, and the memory up to the last of them.
  std::size_t kept(reducer_room::owned_copy const& of, std::size_t part) const noexcept {
    std::size_t const chunks = of.kept->parts[part].chunks;
    if (chunks == 0) return 0;
    // A narrow division, as there is one for each part of each copy.
    auto const room = static_cast<std::uint32_t>(update_chunks::room_behind(of.kept->all.ends()[part]));
    return chunks * updates_of_chunk_ - room / static_cast<std::uint32_t>(parts_[0].array.later.record_bytes);
  }
  static std::size_t kept_bytes(reducer_room::owned_copy const& of, std::size_t part) noexcept {
    return of.kept->parts[part].chunks * update_chunks::chunk_bytes -
           update_chunks::room_behind(of.kept->all.ends()[part]);
  }
  void apply_part(reducer_room::owned_copy const& from, std::size_t part, std::byte* into) const {
    reduced_array const& array = parts_[0].array;
    array.later.apply_part(array.operation.get(), from.kept->all, part, ways_.shift(), into);
  }

  /// Made if there is none. Not by two threads at once, as folding into it.
  reducer_room::owned_copy& total();

  /// The total, if there is one, and all copies, in the order in which they are folded. Not while copies are made.
  std::vector<reducer_room::owned_copy*> const& in_order() const noexcept { return in_order_; }
  /// Called after each part of a fold. After all parts, the total is full if it was the target, and empty if it was
  /// folded.
  void part_is_done(std::size_t parts, bool into_total) noexcept;
  /// For fold_round(): the same number for all threads that fold together, by the caller's synchronisation.
  std::uint64_t round() const noexcept { return round_; }
  void begin_round() noexcept {
    ++round_;
    leave_what_is_idle();
  }
  /// Of a sparse reducer's copy that has been taken elsewhere: counts what it held, as a combination does.
  void count_and_empty(reducer_room::owned_copy&);
  /// Makes a sparse reducer's copy one that may be read as a whole. By its thread, or while that does nothing to it.
  void fill_untouched(reducer_room::owned_copy&);
  /// How a sparse reducer's last combination came to other processes. By one thread, before it is complete.
  void note_wire(reducer_room::wire_choice const&);
  /// Whether there is a copy with this number, and it holds something.
  bool holds(std::uint32_t number);
  /// Null if it holds nothing.
  reducer_room::owned_copy* viewed_total() const noexcept {
    return total_ && total_->generation == generation_ ? total_.get() : nullptr;
  }
  void total_is_taken() noexcept {
    if (total_) total_->generation = 0;
  }
  /// The other copies that hold something, but for those numbered [first, last).
  std::vector<reducer_room::owned_copy*> others_than(std::uint32_t first, std::uint32_t last);
  /// Of the process, laid out as a copy, for a sum that is added to targets later. From any thread.
  std::byte* room_for_sums();
  /// How many shares of such sums have been added to targets, ever.
  std::atomic<std::uint64_t>& shares_added() noexcept { return shares_added_; }
  /// The copies of threads 0 … threads − 1, if these are all there are. Not while copies are made.
  bool has_just(std::size_t threads) const noexcept;

  reducer_room::arrivals& arrivals() noexcept { return arrivals_; }
  /// Whether this thread is the only one that combines, until end_alone(). Orders nothing: callers that combine one after
  /// the other have seen to that themselves, and others are refused.
  /// A thread that combined while another one forked is not in the child.
  bool begin_alone() noexcept {
    std::uint32_t const here = numa::process_number();
    return combining_.exchange(here, std::memory_order_relaxed) != here;
  }
  void end_alone() noexcept { combining_.store(0, std::memory_order_relaxed); }

  void reset() noexcept;
  /// The arrays: "reducer of 10 double, coset::plus".
  std::string in_words() const;
  std::string describe() const;
  /// COSET_LOG=plan: describe(), when something about it is new.
  void log() const;

 private:
  using owned_copy = reducer_room::owned_copy;

  [[noreturn]] void refuse_one_process() const;
  std::unique_ptr<owned_copy> made(std::uint32_t number, std::optional<unsigned> node, bool capped);
  owned_copy& at(std::uint32_t number);
  void change_key() noexcept;
  void empty(private_copy&);
  void make_room();
  void leave_what_is_idle() noexcept {
    if (tracking_ == detail::tracking::none && set_->has_idle()) [[unlikely]]
      leave_idle();
  }
  void leave_idle() noexcept;
  void put_in_order() noexcept;
  bool holds_values() const;
  void say_what_is_lost() const noexcept;
  void claim(owned_copy&, std::size_t first, std::size_t number);
  void spill(owned_copy&);
  void spill_block(owned_copy& total, owned_copy&, std::size_t block);
  owned_copy& total_for_spills();
  void require_memory(owned_copy&);
  void forget_updates(owned_copy&);
  bool may_keep_more(owned_copy&) noexcept;
  void look_at_chunk(reducer_room::kept_updates&, std::size_t part) const noexcept;
  void apply_early(owned_copy&);
  void apply_early(owned_copy&, std::size_t part, owned_copy& to);
  void finish_round() noexcept;
  numa::fork_safe_mutex& lock_of(std::size_t block) {
    unsigned const together = ways_.may_keep() ? ways_.shift() - shape_.shift : 0;
    return (*of_block_)[(block >> together) % of_block_->size()];
  }

  std::uint32_t const process_ = numa::process_number();  ///< that made it
  std::uint64_t const id_;                                ///< never reused
  std::uint64_t key_;                                     ///< see key_of()
  enum class claims : std::uint8_t { kept, missed };
  std::atomic<claims> claims_ = claims::kept;
  std::atomic<std::uint32_t> combining_ = 0;  ///< the number of the process where a thread does
  std::vector<reducer_room::part_of_copy> const parts_;
  std::size_t const bytes_;  ///< of a copy
  runtime::floating_point_mode const mode_ = runtime::floating_point_mode::of_this_thread();
  arithmetic const computes_;  ///< any of the arrays
  std::size_t const most_bytes_ = 0;
  reducer_room::blocks const shape_;
  detail::tracking const tracking_ = detail::tracking::none;
  reducer_room::way_choice ways_;
  std::size_t updates_of_chunk_ = 0;  ///< that are kept

  /// Never equal to another reducer's, whose copies may be reused here. Changes only between rounds of updates, which
  /// the caller separates.
  std::uint64_t generation_ = id_;
  team_state const* served_ = nullptr;  ///< only to be compared
  std::size_t processes_served_ = 1;
  std::atomic<std::size_t> parts_done_ = 0;
  std::uint64_t round_ = 0;
  std::atomic<std::uint64_t> shares_added_ = 0;
  std::optional<reducer_room::wire_choice> wire_;  ///< of the last combination over processes

  mutable numa::fork_safe_mutex making_;        ///< guards what follows
  std::optional<reducer_room::copy_set> set_;   ///< of dense reducers, and for sums_
  memory_kind memory_ = memory_kind::standard;  ///< of a sparse reducer's copies
  std::vector<std::unique_ptr<owned_copy>> of_threads_;
  std::map<std::uint32_t, std::unique_ptr<owned_copy>> numbered_;
  std::vector<owned_copy*> left_;  ///< copies of threads that have ended
  std::unique_ptr<owned_copy> total_;
  std::unique_ptr<owned_copy> sums_;  ///< no copy: see room_for_sums()
  std::vector<owned_copy*> in_order_;

  std::atomic<std::size_t> claimed_ = 0;  ///< bytes, of all copies
  std::atomic<std::size_t> spills_ = 0;
  /// [block % 64], or that of a part of kept updates: for the total. Only with capped memory, as a reducer made for each loop pays for every byte.
  using block_locks = std::array<numa::fork_safe_mutex, 64>;
  std::unique_ptr<block_locks> of_block_;
  bool const is_logged_ = text::plans_are_logged();
  bool total_is_known_ = true;  ///< to the caller, as he has viewed it or it is empty

  reducer_room::arrivals arrivals_{*this};
};

}  // namespace coset::detail
