// SPDX-License-Identifier: Apache-2.0
// Calls that repeat: a rank's program with everything looked up that stays the same from call to call.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planning/plan/bound_plan.hpp"
#include "runtime/memory/lines.hpp"

namespace coset::inline COSET_ABI::detail {
struct rank_state;
}

namespace coset::runtime {

/// One rank's program of a plan, as long as its staging stays where it is. For plans of one segment whose folds touch the
/// caller's arrays and the team's own memory only, of elements of one form, without messages and traces, in calls that teach nothing: what is
/// short, and most of what is not long.
struct resolved_program {
  /// Calls of each parity, and again where pairs have exchanged staging.
  static constexpr std::size_t all_turns = 4;

  /// Where an array of a fold begins, by turn: so far from the caller's input or output, or from nowhere.
  struct array {
    enum base : std::uint32_t { input, output, nowhere };
    base from;
    std::array<std::uintptr_t, all_turns> at;
  };
  /// Where a rank is in its program, for those who ask.
  struct place {
    std::uint32_t instruction = 0, wait = 0;
  };
  struct folding {
    detail::fold_function function = nullptr;
    void* const* arrays = nullptr;  ///< sources, then destinations
    std::uint32_t sources = 0, destinations = 0;
    std::size_t count = 0;  ///< elements, or words
  };
  /// One thing to do after the other: an instruction of the program is some of these.
  struct act {
    enum kind : std::uint8_t {
      copy_words,            ///< of 8 bytes, a few of them
      fold,                  ///< integers, or one array alone
      fold_numbers,          ///< in the team's floating-point mode
      fold_by_caller,        ///< by the caller's operation, which may throw
      copy_own,              ///< the rank's own input to its place in the output
      tell_entry,            ///< that the rank is there, and where its arrays are
      tell_progress,         ///< up to `signal`
      await_entry,           ///< of `peer`
      await_compared_entry,  ///< the same, and that its arrays go with this rank's
      await_progress,        ///< of `peer` up to `signal`
      done
    };
    kind what = done;
    detail::arithmetic computes = detail::arithmetic::integer;
    place at{};
    rank_t peer = 0;
    std::uint32_t signal = 0;
    folding folds{};
    entry_line* entry = nullptr;                          ///< the peer's, or its own to tell
    std::atomic<std::uint64_t> const* reached = nullptr;  ///< the peer's
    /// What of the peer's arrays this rank's were compared with in the latest such call; a pointer to this act: nothing yet.
    std::pair<void const*, void const*> compared{};
  };
  /// The acts of calls of one turn, with the arrays of the latest such call. Two of them often have the same.
  struct turn {
    void const* in = nullptr;
    void* out = nullptr;
    std::byte const* told_in = nullptr;
    std::byte* told_out = nullptr;
    std::vector<void*> arrays;
    std::vector<act> acts;
  };

  /// The rank's own input is its own part of the result.
  struct own_piece {
    detail::own_copy when = detail::own_copy::none;
    std::size_t to = 0, bytes = 0;  ///< so far into the caller's output
  };

  struct call_under_way {
    void const* operation = nullptr;
    turn const* arrays = nullptr;
  };

  std::size_t capacity = 0;  ///< of the staging in use
  bool is_alone = false;     ///< a team of one, in which nobody has to be told anything
  own_piece own;
  std::size_t to_whole_in = 0,
              to_whole_out = 0;  ///< from a rank's piece to where the whole vector would begin, in bytes
  std::vector<program::reader> const* readers = nullptr;
  bool computes_numbers = false;  ///< some act is fold_numbers
  call_under_way now;
  detail::bound_plan const* plan = nullptr;  ///< alive while a call of it is
  std::vector<array> arrays;
  bool exchanges = false;  ///< else the first two turns are all
  std::array<turn, all_turns> turns;
};

/// A rank's programs that repeat, by plan. Direct-mapped in front, so that a loop over a few plans looks nothing up.
class resolved_programs {
 public:
  /// Null if this one is not resolved.
  resolved_program* find(detail::bound_plan const& plan, std::size_t capacity) const noexcept {
    return find(plan.id, capacity);
  }
  /// The same of a plan of which calls teach something, for one that does not.
  resolved_program* find_untimed(detail::bound_plan const& plan, std::size_t capacity) const noexcept {
    return find(untimed(plan), capacity);
  }

  /// After a call of a plan that find() has not found: allocates after a plan's first call alone.
  void called(detail::rank_state const& me, detail::bound_plan const& plan) noexcept { called(me, plan, plan.id); }
  void called_untimed(detail::rank_state const& me, detail::bound_plan const& plan) noexcept {
    called(me, plan, untimed(plan));
  }

 private:
  static std::uint64_t untimed(detail::bound_plan const& plan) { return ~plan.id; }
  resolved_program* find(std::uint64_t id, std::size_t capacity) const noexcept {
    auto const& [here, known] = front_[id % front_.size()];
    return here == id && known != nullptr && known->capacity == capacity ? known : nullptr;
  }
  void called(detail::rank_state const&, detail::bound_plan const&, std::uint64_t id) noexcept;

  static constexpr std::size_t most = 256;  ///< more than that and all are forgotten
  std::size_t rests_ = 0;                   ///< so many calls resolve nothing, once plans have been too many
  std::array<std::pair<std::uint64_t, resolved_program*>, 16> front_{};  ///< by id; null: it cannot be resolved
  std::unordered_map<std::uint64_t, std::unique_ptr<resolved_program>> all_;
};

/// A blocking call of the plan on channel 0, while this thread has no other operation under way: what prepare(),
/// announce() and advance() do, the same signals and waits in the same order.
void run_resolved(detail::rank_state&, detail::bound_plan const&, resolved_program&, void const* in, void* out,
                  void const* operation);

}  // namespace coset::runtime
