// SPDX-License-Identifier: Apache-2.0
// A plan as ranks execute it: the compiled schedule bound to a signature.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coset/detail/line_spacing.hpp"
#include "planning/choice/learner.hpp"
#include "planning/plan/signature.hpp"
#include "planning/program/bind.hpp"

namespace coset::planning {
class plan_store;
}

namespace coset::inline COSET_ABI::detail {

/// Bytes [begin, end) of the whole vector.
struct extent {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

/// How a call goes in segments.
struct plan_segments {
  std::size_t number = 1;  ///< 0: as a call of its own for each rank's piece, since staging has no room for the whole
  std::size_t count = 0;   ///< elements of every segment but the last; of each rank's piece, where pieces are cut
  std::size_t wanted_bytes = 0;  ///< of a segment, as was chosen; 0: any
  program::layout layout;        ///< of all segments but the last
  program::layout last_layout;
  std::size_t shared_piece =
      0;  ///< elements; 0: ranks do not fold pieces of others' parts, see runtime/shared_fold.hpp

  program::layout const& layout_of(std::size_t segment) const { return segment + 1 == number ? last_layout : layout; }
};

/// When a rank puts its own input where it is a part of the result.
enum class own_copy : std::uint8_t {
  none,
  first,     ///< before it tells anybody that it is there
  once_told  ///< then, while others' parts are on their way: nobody fetches from its arrays
};

/// What callers' arrays are of the whole vector.
struct plan_extents {
  std::vector<extent> gives, gets;  ///< [rank that shares memory]: input and output
  bool shares_outputs = false;      ///< reduce_shared: they have to be one array
  own_copy own = own_copy::none;
};

/// For people.
struct plan_words {
  std::string choice;   ///< "direct, staged, forward"
  double seconds = 0;   ///< what the library's choice is expected to take; 0: no such choice
  std::string refused;  ///< the rule that comes first but cannot serve, and why
};

struct bound_plan;

/// One rank's learning about a shape. Written by that rank only.
struct alignas(detail::line_spacing) rank_lesson {
  choice::learner learner;
  std::uint32_t failures = 0;    ///< of the team, when it began: where a run failed, ranks may have learned differently
  std::uint64_t began = 0;       ///< the latest call; 0: none yet
  std::uint32_t generation = 0;  ///< of that call
  std::uint32_t took = 0;        ///< that call; 0: not known
  std::uint32_t calls = 0;       ///< so far; where one rank decides
  unsigned next = 0;             ///< the candidate of the next one; likewise
  bool resolved = false;         ///< candidates are, as far as they can be, for calls that are not timed
};

/// What one rank decides for all, some calls ahead: see runtime/learning.
struct alignas(line_spacing) decisions {
  static constexpr std::uint32_t ahead = 3, kept = 8;
  std::array<std::atomic<std::uint8_t>, kept> candidate_of{};  ///< [number of the call, modulo]
};

/// Of the signature: plans of one signature may be several, as each shared library has tables of its own.
struct shape_lessons {
  std::vector<rank_lesson> of_rank;
  decisions decided = {};
};

/// What ranks learn about a shape: which of the plans that give the same bits serves it best.
struct plan_lessons {
  std::vector<std::shared_ptr<bound_plan const>> others;  ///< candidates 1 …; candidate 0 is the plan that has them
  std::shared_ptr<shape_lessons> of;
  std::optional<rank_t> leader = {};  ///< who decides for all; none: all, by the same times
};

/// What comes of being one of several plans for a shape.
struct plan_candidacy {
  std::shared_ptr<plan_lessons const> lessons;  ///< of candidate 0; null where nothing is learned
  bool tells_times = false;                     ///< entries carry what the last call took
  std::uint32_t most_operands = 0;  ///< of an instruction; of all candidates, so that no later call allocates
  std::size_t most_staging = 0;     ///< likewise, bytes for blocking calls
};

/// Immutable once made, but for what ranks learn. A call longer than a segment runs the same program segment by segment,
/// each as an operation of its own: staging is double-buffered by parity, so that neighbouring segments overlap.
struct bound_plan {
  planning::signature what;
  std::uint32_t hash = 0;  ///< what.hash()
  std::uint64_t id = 0;    ///< of no other in this process, those that are gone included
  planning::plan_store const* owner = nullptr;
  std::shared_ptr<program::compiled const> code;
  plan_candidacy candidacy;
  fold_set const* folds = nullptr;
  std::size_t bytes = 0;  ///< of the whole vector
  plan_segments segments;
  std::vector<std::size_t> counts;  ///< of the pieces, where the caller named them
  plan_extents arrays;
  std::shared_ptr<plan_words const> words;  ///< of plans of one class the same

  /// Staging has no room for it: other calls carry it out.
  bool goes_in_parts() const noexcept { return segments.number == 0; }
  void describe(planning::described_signature& to, bool started, planning::asked_by by) const noexcept {
    what.describe(to, counts, started, by);
  }
};

}  // namespace coset::detail
