// SPDX-License-Identifier: Apache-2.0
// Folding what copies hold: by slices of all copies, or by turns of their threads.
#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "base/text/format.hpp"
#include "coset/detail/collective.hpp"
#include "numa/binding.hpp"
#include "reducer/chunks.hpp"
#include "reducer/core.hpp"
#include "reducer/processes/ranks.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/foreign.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "runtime/memory/waiting.hpp"
#include "team/team_state.hpp"

namespace coset::reducer_room {
namespace {

using detail::reducer_core;
using detail::tracking;

/// Below this many bytes, waiting for other threads takes longer than folding their parts.
constexpr std::size_t bytes_per_part = 8 << 10;

/// Threads without a team.
struct threads_alone {
  template <class Fold>
  void fold(Fold&& part) const {
    part();
  }
  void look_around() const {}
};

/// Ranks of a team. If one leaves by an exception, no other is in a fold: the array may be the leaving rank's own.
struct ranks_together {
  detail::rank_state& me;

  template <class Fold>
  void fold(Fold&& part) const {
    runtime::touch_foreign(me, 1, 1, [&](std::size_t, std::size_t) { part(); });
    look_around();
  }
  void look_around() const {
    if (me.shared.failed()) [[unlikely]]
      runtime::leave(me);
  }
};

/// One thread folds its copy into each part in turn. So copies stay in their threads' caches, where the next updates
/// find them, and only parts of the array travel. Allocates nothing, as other threads wait.
template <class Company>
class turns {
 public:
  turns(reducer_core& core, void* const* into, combining how, std::size_t thread, std::size_t threads, Company company)
      : chunks_(core, into, how, 1),
        parts_(core.parts()),
        thread_(thread),
        threads_(threads),
        mine_(core.in_order()[thread]),
        before_(*core.in_order()[(thread + threads - 1) % threads]),
        begin_(core.round() << 16),
        company_(company) {}
  /// Operations may throw: then no thread waits for this one, and none folds after it.
  ~turns() {
    if (mine_->turn.load(std::memory_order_relaxed) != begin_ + threads_) give(given_up);
  }
  turns(turns const&) = delete;
  turns& operator=(turns const&) = delete;

  static constexpr std::uint64_t given_up = 0xffff;

  void fold() {
    for (std::size_t k = 0; k < threads_; ++k) {
      if (k > 0 && !await(k)) return;
      std::size_t const slice = (thread_ + threads_ - k) % threads_;
      bool const replacing = k == 0 && chunks_.replaces();
      if (chunks_.counts(*mine_) || replacing) company_.fold([&] { fold(slice, replacing); });
      give(k + 1);
    }
  }

 private:
  void give(std::uint64_t turn) {
    runtime::tell_release(&mine_->turn);
    mine_->turn.store(begin_ + turn, std::memory_order_release);  // partner: await()
  }

  void fold(std::size_t slice, bool replacing) {
    for (std::size_t array = 0; array < parts_.size(); ++array) {
      auto const [begin, end] = slice_of(parts_[array], slice, threads_);
      chunks_.fold(std::span(&mine_, 1), array, begin, end, replacing);
    }
  }

  /// Waits until the previous thread has folded so many parts; false if it never will.
  bool await(std::uint64_t parts) const {
    runtime::backing_off wait(runtime::patience::of_polling());
    for (;; wait(false)) {
      std::uint64_t const turn = before_.turn.load(std::memory_order_acquire);
      if (turn == begin_ + given_up) return false;
      if (turn >= begin_ + parts) {
        runtime::tell_acquire(&before_.turn);
        return true;
      }
      company_.look_around();
    }
  }

  chunks chunks_;
  std::vector<part_of_copy> const& parts_;
  std::size_t const thread_, threads_;
  owned_copy* const mine_;
  owned_copy const& before_;
  std::uint64_t const begin_;
  Company const company_;
};

}  // namespace
}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

namespace {

/// Cost: a comparison for each array.
void require_targets(reducer_core const& core, void* const* into, combining how) {
  if (how > combining::assign)
    throw argument_error(text::format("there is no way {} to combine", static_cast<int>(how)));
  std::size_t const number = core.parts().size();
  for (std::size_t array = 0; into != nullptr && array < number; ++array)
    if (into[array] == nullptr && core.parts()[array].array.count > 0) [[unlikely]]
      throw argument_error(number == 1 ? "the array to combine into is NULL"
                                       : text::format("array {} of {} to combine into is NULL", array, number));
}

}  // namespace

void fold_part(reducer_core& core, void* const* into, std::size_t part, std::size_t parts, combining how) {
  if (part >= parts) [[unlikely]]
    throw argument_error(text::format("there is no part {} of {}: parts are counted from 0", part, parts));
  core.require_one_process();
  require_targets(core, into, how);
  std::optional<sole_combination> alone;
  if (parts == 1) alone.emplace(core);
  if (core.tracking() == tracking::none) {
    chunks all(core, into, how, core.in_order().size());
    for (std::size_t array = 0; array < core.parts().size(); ++array) {
      auto const [begin, end] = slice_of(core.parts()[array], part, parts);
      all.fold(core.in_order(), array, begin, end);
    }
  } else {
    fold_tracked(core, into, how, part, parts);
  }
  core.part_is_done(parts, into == nullptr);
}

// For n lines and P threads, a round moves P·n lines of the target; slices move 2·(P − 1)·n lines of copies, there and
// back. For two threads both are equal, but a round then has to read a target that is assigned.
bool should_fold_round(reducer_core const& core, std::size_t threads, combining how) noexcept {
  // If partial results hold more than elements do, the rest is lost between turns.
  bool const rounds_once = std::ranges::any_of(core.parts(), [](part_of_copy const& part) {
    return part.array.reduction->partial_bytes != part.array.reduction->element_bytes;
  });
  bool const could = core.tracking() == tracking::none && !rounds_once && core.has_just(threads) &&
                     threads < turns<threads_alone>::given_up;
  return could && (how == combining::add || threads > 2);
}

void begin_round(reducer_core& core) noexcept { core.begin_round(); }

void fold_round(reducer_core& core, void* const* into, std::size_t thread, std::size_t threads, combining how) {
  require_targets(core, into, how);
  turns(core, into, how, thread, threads, threads_alone{}).fold();
}

told_as_combine::told_as_combine(rank_state& me, combining how) noexcept : me_(me) {
  me.acts.by = how == combining::add ? planning::asked_by::combine_add : planning::asked_by::combine_assign;
}
told_as_combine::~told_as_combine() { me_.acts.by = planning::asked_by::program; }

void require_arguments(reducer_core const& core, void* const* into, std::size_t const* lengths, rank_state& me,
                       combining how) {
  if (!core.serves(me.team))
    refuse(me, text::format("combine: rank {} is a member of another team than that of the reducer", me.number));
  for (std::size_t array = 0; array < core.parts().size(); ++array) {
    std::size_t const count = core.parts()[array].array.count;
    if (lengths[array] != count)
      refuse(me, text::format("combine_into: a reducer of {} elements and an array of {}", count, lengths[array]));
  }
  try {
    require_targets(core, into, how);
  } catch (...) {
    runtime::fail_by_thrown(me, "combine_into");
  }
}

void fold_by_ranks(reducer_core& core, void* const* into, std::size_t const* lengths, rank_state& me, combining how,
                   destination const& to) {
  require_arguments(core, into, lengths, me, how);
  told_as_combine const told(me, how);
  if (!me.shared.kind.one_memory()) {
    meet_with(core, me);  // until then copies that are no rank's may be added to
    return combine_over_processes(core, into, me, me.number, how, to);
  }
  auto const same_everywhere = [&](std::uint64_t what) { me.acts.history = runtime::following(me.acts.history, what); };
  same_everywhere(reinterpret_cast<std::uintptr_t>(&core));
  same_everywhere(static_cast<std::uint64_t>(how));
  for (std::size_t array = 0; array < core.parts().size(); ++array)
    same_everywhere(reinterpret_cast<std::uintptr_t>(into[array]));
  if (me.rank == 0) core.begin_round();
  run(me, meeting());
  try {
    ranks_together const company{me};
    if (should_fold_round(core, me.shared.ranks, how)) {
      turns(core, into, how, me.rank, me.shared.ranks, company).fold();
    } else {
      company.fold([&] { fold_part(core, into, me.rank, me.shared.ranks, how); });
    }
  } catch (...) {
    runtime::fail_by_thrown(me, "combine_into");
  }
  run(me, meeting());
}

bool share_processors(std::size_t threads) {
  // Without a guard, on which a forked child would wait for a thread that it has not.
  static constinit std::atomic<std::size_t> counted = 0;
  std::size_t processors = counted.load(std::memory_order_relaxed);
  if (processors == 0) counted.store(processors = numa::usable_processors(), std::memory_order_relaxed);
  return threads > processors;
}

std::size_t worthwhile_parts(reducer_core const& core, std::size_t copies) noexcept {
  std::size_t const bytes = core.bytes() * (copies + 1);
  return std::max<std::size_t>(1, bytes / bytes_per_part);
}

}  // namespace coset::detail
