// SPDX-License-Identifier: Apache-2.0
// Calls that repeat: a rank's program with everything looked up that stays the same from call to call.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/bound_plan.hpp"
#include "runtime/memory/lines.hpp"

namespace coset::inline COSET_ABI::detail {
struct rank_state;
}

namespace coset::runtime {

/// One rank's program of a plan, as long as its staging stays where it is. For plans of one segment whose folds touch the
/// caller's arrays and the team's own memory only, of elements of one form, without messages, lessons and traces: what is
/// short, and most of what is not long.
struct resolved_program {
  /// Where an array of a fold begins, by parity: so far from the caller's input or output, or from nowhere.
  struct array {
    enum base : std::uint32_t { input, output, nowhere };
    base from;
    std::array<std::uintptr_t, 2> at;
  };
  /// A peer's word.
  struct wait {
    channel_lines* lines;
    rank_t rank;
    std::uint32_t signal;
    bool compares;  ///< its arrays with this rank's
    /// [parity]: those that this rank's latest of this parity were compared with; the lines: none yet.
    std::array<std::pair<void const*, void const*>, 2> compared;
  };
  /// Waits, folds, signals; each may be absent.
  struct step {
    std::uint32_t instruction = 0;
    std::uint32_t waits_end = 0;  ///< of all
    std::uint32_t sources = 0, destinations = 0, signal = 0;
    detail::arithmetic computes = detail::arithmetic::integer;
    detail::fold_function fold = nullptr;
    std::size_t count = 0;
    std::size_t first_array = 0;
  };
  /// The arrays of the latest call of this parity, and where those of the folds were. Two such calls often have the same.
  struct addresses {
    void const* in = nullptr;
    void* out = nullptr;
    std::vector<void*> arrays;
  };

  /// The rank's own input is its own part of the result.
  struct own_piece {
    detail::own_copy when = detail::own_copy::none;
    std::size_t to = 0, bytes = 0;  ///< so far into the caller's output
  };

  std::size_t capacity = 0;  ///< of the staging in use
  bool is_alone = false;     ///< a team of one, in which nobody has to be told anything
  own_piece own;
  std::size_t to_whole_in = 0,
              to_whole_out = 0;  ///< from a rank's piece to where the whole vector would begin, in bytes
  std::vector<rank_t> const* readers = nullptr;
  std::vector<step> steps;
  std::vector<wait> waits;
  std::vector<array> arrays;
  std::array<addresses, 2> latest;  ///< [parity]
};

/// A rank's programs that repeat, by plan. Direct-mapped in front, so that a loop over a few plans looks nothing up.
class resolved_programs {
 public:
  /// Null if this one is not resolved.
  resolved_program* find(detail::bound_plan const& plan, std::size_t capacity) const noexcept {
    auto const& [id, known] = front_[plan.id % front_.size()];
    return id == plan.id && known != nullptr && known->capacity == capacity ? known : nullptr;
  }

  /// After a call of a plan that find() has not found: allocates after a plan's first call alone.
  void called(detail::rank_state const&, detail::bound_plan const&) noexcept;

 private:
  static constexpr std::size_t most = 256;                               ///< more than that and all are forgotten
  std::array<std::pair<std::uint64_t, resolved_program*>, 16> front_{};  ///< id of a plan; null: it cannot be resolved
  std::unordered_map<std::uint64_t, std::unique_ptr<resolved_program>> all_;
};

/// A blocking call of the plan on channel 0, while this thread has no other operation under way: what prepare(),
/// announce() and advance() do, the same signals and waits in the same order.
void run_resolved(detail::rank_state&, detail::bound_plan const&, resolved_program&, void const* in, void* out,
                  void const* operation);

}  // namespace coset::runtime
