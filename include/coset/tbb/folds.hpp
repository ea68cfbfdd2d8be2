// SPDX-License-Identifier: Apache-2.0
// How tasks combine what threads have reduced. Part of coset/tbb.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <oneapi/tbb/task_arena.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "coset/detail/collective.hpp"
#include "coset/detail/private_copy.hpp"
#include "coset/detail/visibility.h"
#include "coset/reducers/team_over_processes.hpp"
#include "coset/tbb/arenas.hpp"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI::tbb {

namespace task_room {

/// Fewer parts than worthwhile_parts() says: waking workers takes longer than folding some parts.
inline std::size_t parts_for(detail::reducer_core const& core, std::size_t threads) {
  std::size_t const parts = detail::worthwhile_parts(core, threads) / 4;
  return parts < threads ? parts : threads;
}

/// These are templates, although all reducers have the same core, so that compilers make oneTBB's loops only for programs
/// that fold. oneTBB keeps their bodies behind virtual functions.
template <std::same_as<detail::reducer_core> Core>
COSET_PER_COPY void fold_parts(Core& core, void* const* into, combining how, std::size_t begin, std::size_t end,
                               std::size_t parts) {
  for_each_whatever_happens(begin, end, [&](std::size_t part) { detail::fold_part(core, into, part, parts, how); });
}

/// Folds by tasks of the calling thread's arena. `into` as in detail::fold_part().
template <std::same_as<detail::reducer_core> Core>
COSET_PER_COPY void fold(Core& core, void* const* into, combining how) {
  auto const parts = parts_for(core, static_cast<std::size_t>(::tbb::this_task_arena::max_concurrency()));
  if (parts <= 1) return detail::fold_part(core, into, 0, 1, how);
  detail::sole_combination const alone(core);
  fold_parts(core, into, how, 0, parts, parts);
}
/// Folds by the threads of all nodes; each node's threads fold one stretch of the arrays.
template <std::same_as<detail::reducer_core> Core>
COSET_PER_COPY void fold(Core& core, void* const* into, combining how, arenas& nodes) {
  auto const parts = parts_for(core, nodes.concurrency());
  if (parts <= 1) return detail::fold_part(core, into, 0, 1, how);
  detail::sole_combination const alone(core);
  nodes.run([&](std::size_t k) {
    auto const [begin, end] = nodes.share(k, parts);
    fold_parts(core, into, how, begin, end, parts);
  });
}

/// A team over processes without its type. Empty: the tasks of this process are all there are.
class processes {
 public:
  processes() = default;
  template <team_over_processes Team>
  explicit processes(Team& all) : threads_(all.threads()) {
    if (all.processes() == 1) return;
    all_ = &all;
    each_ = [](void* of, call* body, void* context) { call_each(*static_cast<Team*>(of), body, context); };
  }

  explicit operator bool() const noexcept { return all_ != nullptr; }
  /// Of this process.
  rank_t threads() const noexcept { return threads_; }
  /// Collective, by one thread of each process: body(me) for every rank of the process, each by a thread of its own. These are
  /// the team's; or the caller, as the only one, which joins meanwhile unless it has joined before.
  template <std::invocable<member&> Body>
  void each_rank(Body const& body) const {
    each_(
        all_, [](void* context, member& me) { (*static_cast<Body const*>(context))(me); }, const_cast<Body*>(&body));
  }

 private:
  using call = void(void* context, member&);

  template <class Team>
  static void call_each(Team& all, call* body, void* context) {
    if (!all.is_adopted()) return all.run([&](member& me) { body(context, me); });
    auto const act = [&](member& me) {
      if (all.threads() != 1)
        detail::refuse(me.state(), "combine by tasks: the process has " + std::to_string(all.threads()) +
                                       " adopted threads in the team, and one of them calls; adopt one, or none");
      body(context, me);
    };
    if (detail::rank_state* const joined = all.joined(0)) {
      member me(*joined);
      return act(me);
    }
    member_guard me = all.join(0);
    act(me);
  }

  void* all_ = nullptr;
  void (*each_)(void*, call*, void*) = nullptr;
  rank_t threads_ = 0;
};

/// By the ranks of all processes. Each takes some of the copies of this process's threads, so several ranks fold them without
/// tasks. For one rank alone `fold_all` does it before, by tasks and into the reducer's total; only what was touched goes out as it is.
/// `places()` are the arrays, or throws.
template <std::same_as<detail::reducer_core> Core, class Places, class FoldAll>
COSET_PER_COPY void combine(processes const& all, Core& core, Places const& places, combining how,
                            destination const& where, FoldAll const& fold_all) {
  bool const folds_before = all.threads() == 1 && detail::tracking_of(core) == detail::tracking::none;
  all.each_rank([&](member& me) {
    auto const into = detail::told_to_all(me.state(), places);
    if (folds_before) detail::told_to_all(me.state(), fold_all);
    auto const own = folds_before ? detail::just_the_total : static_cast<std::uint32_t>(me.rank());
    detail::combine_over_processes(core, into.data(), me.state(), own, how, where);
  });
}

}  // namespace task_room

}  // namespace coset::tbb
