// SPDX-License-Identifier: Apache-2.0
// A loop of updates by the ranks of a running team, each of which brings its own iterations.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coset/team.hpp"
#include "coset/updates/prepared.hpp"

namespace coset::inline COSET_ABI::detail {

/// What a rank tells of its loop.
struct loop_of_rank {
  void const* loop;
  void const* type;    ///< the same for ranks whose loops have one type
  void const* target;  ///< where its first array begins
  std::size_t length;
  std::uint64_t others;  ///< of where its other arrays begin
};

/// Collective: rank 0 gets what all tell, in `all`. Throws argument_error on every rank if targets or types differ, and in a
/// team over processes.
COSET_API void meet_with_loops(rank_state&, loop_of_rank const& mine, loop_of_rank* all);
/// Collective: gives every rank what rank 0 has.
COSET_API void* shared_by_first(rank_state&, void* made);
/// Fails the team by the exception that is being handled, and throws it or what it means.
[[noreturn]] COSET_API void fail_by_thrown(rank_state&);

/// While it lives, this rank touches what others have lent; whoever leaves the team by an exception waits for its end. It
/// throws what the team has failed with; nothing that is lent may be touched then.
class COSET_API borrowing {
 public:
  explicit borrowing(rank_state& me) : me_(me) { begin(); }
  ~borrowing() { end(); }
  borrowing(borrowing const&) = delete;
  borrowing& operator=(borrowing const&) = delete;

  /// Collective: a barrier, during which nothing is touched.
  void meet();

 private:
  void begin();
  void end() noexcept;

  rank_state& me_;
};

/// Its address tells types apart.
template <class Loop>
COSET_PER_COPY inline constexpr char type_of_loop = 0;

template <class Loop>
loop_of_rank told_of(Loop const& mine) {
  auto const arrays = mine.target.addresses();
  std::uint64_t others = 0;
  for (std::size_t k = 1; k < arrays.size(); ++k)
    others = others * 0x9e3779b97f4a7c15 + reinterpret_cast<std::uintptr_t>(arrays[k]);
  return {std::addressof(mine), &type_of_loop<Loop>, arrays[0], mine.target.length(), others};
}

/// Rank 0 makes what all share, of copies of all loops, unless there is no update.
template <class Loop>
void make_shared_updates(std::unique_ptr<shared_updates<Loop>>& made, rank_state& me,
                         std::vector<loop_of_rank> const& told, scatter_options const& options) {
  try {
    borrowing const lent(me);
    std::vector<Loop> all;
    std::size_t updates = 0;
    all.reserve(told.size());
    for (loop_of_rank const& each : told) {
      all.push_back(*static_cast<Loop const*>(each.loop));
      updates += all.back().count;
    }
    if (updates > 0) made = std::make_unique<shared_updates<Loop>>(std::move(all), told.size(), options);
  } catch (...) {
    fail_by_thrown(me);
  }
}

template <class Loop>
void carry_out_by(member& me, Loop const& mine, scatter_options const& options) {
  rank_state& state = me.state();
  std::vector<loop_of_rank> told(me.rank() == 0 ? me.size() : 0);
  meet_with_loops(state, told_of(mine), told.data());
  std::unique_ptr<shared_updates<Loop>> made;
  if (me.rank() == 0) make_shared_updates(made, state, told, options);
  auto* const shared = static_cast<shared_updates<Loop>*>(shared_by_first(state, made.get()));
  if (shared == nullptr) return;
  bool has_thrown = false;
  {
    borrowing lent(state);
    shared->carry_out(me.rank(), me.size(), me.size(), [&lent] { lent.meet(); });
    has_thrown = shared->has_thrown();
    lent.meet();  // now no rank looks at what another has made or lent
  }
  if (!has_thrown) return;
  try {
    if (made) made->rethrow();
  } catch (...) {
    fail_by_thrown(state);
  }
  shared_by_first(state, nullptr);  // rank 0 never comes: this throws what it has failed the team with
}

/// with(run) writes this rank's loop and calls run(loop). All ranks are told of a loop that is wrong.
template <class With>
void by_rank(member& me, scatter_options const& options, With const& with) {
  bool is_written = false;
  try {
    with([&](auto const& loop) {
      is_written = true;
      carry_out_by(me, loop, options);
    });
  } catch (...) {
    if (is_written) throw;
    fail_by_thrown(me.state());
  }
}

}  // namespace coset::detail
