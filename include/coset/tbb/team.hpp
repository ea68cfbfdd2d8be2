// SPDX-License-Identifier: Apache-2.0
// For oneTBB programs: collectives whose ranks are tasks.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <oneapi/tbb/task_arena.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "coset/detail/collective.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/detail/task_run.hpp"
#include "coset/detail/visibility.h"
#include "coset/request.hpp"
#include "coset/tbb/arenas.hpp"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI::tbb {

namespace task_room {

inline std::span<request const> requests_of(request const& one) { return {&one, 1}; }
template <std::ranges::contiguous_range Several>
requires std::same_as<std::ranges::range_value_t<Several>, request> std::span<request const> requests_of(
    Several const& all) {
  return {std::ranges::data(all), std::ranges::size(all)};
}

/// The types that start() may return.
template <class T>
concept requests = requires(T const& t) {
  requests_of(t);
};

/// What run() takes; the compiler says if not.
template <class Start>
constexpr bool is_start() {
  if constexpr (!detail::is_body<Start>()) {
    return false;
  } else {
    constexpr bool returns_requests = requests<std::invoke_result_t<Start&, member&>>;
    static_assert(
        returns_requests,
        "run() waits for what its body starts: return the request, or an array of requests, of coset::start_...()");
    return returns_requests;
  }
}

}  // namespace task_room

/// P ranks that are not threads but parts of a problem. Tasks start the ranks' collectives and advance them, as many at
/// once as oneTBB has threads, and no task waits for another. One thread suffices.
///
///     coset::tbb::team ranks(P);
///     ranks.run([&](coset::member& me) { return coset::start_allreduce(me, arrays[me.rank()]); });
///
/// Works for any verb that has a split-phase form, and for plans: coset::plan<double>(ranks, …).start(me, …). Calls
/// that would wait (allreduce(), request::wait(), split()) throw argument_error on all ranks, as a rank has no thread
/// of its own to wait with.
///
/// The results are complete when run() returns. Plans, staging and ranks are kept from one run to the next.
class team {
 public:
  /// Any number of ranks but 0, which throws argument_error.
  explicit team(rank_t ranks) : parts_(std::make_shared<parts>(ranks)) {}

  rank_t size() const noexcept { return parts_->ranks->size(); }

  /// Runs one collective, or several at once: calls start(me) once for every rank, as tasks of the calling thread's
  /// arena, and returns when all started operations are complete. `start` returns its request, or up to eight of them
  /// in an array or a vector.
  ///
  /// A task may call it; its thread takes no other tasks meanwhile. One thread at a time may call it. It runs to its
  /// end even if the calling task is cancelled.
  /// Bits: those of a team of P threads under the same plan, however many threads oneTBB has.
  /// Cost: sweeps() parallel_fors of about a microsecond each, and the allocation of an array of P. Nothing is planned
  /// twice.
  /// Errors: an exception from `start` or an operation ends the run on all ranks and is rethrown here; afterwards the
  /// team works again. mismatch_error if ranks disagree, or if one starts nothing while others wait for it.
  /// argument_error for a request of another rank, team or run, for a ninth operation, for calls that would wait, for a
  /// call inside run(), and for calls by two threads at once.
  template <class Start>
  void run(Start&& start) {
    if constexpr (task_room::is_start<Start>()) run_started(start);
  }

  /// How many sweeps over the unfinished ranks the last run() made: at most one more than the longest chain of waits in
  /// the plan, however few threads there are. Usually 2 or 3; 2(P−1)+1 for a ring.
  std::size_t sweeps() const noexcept { return parts_->sweeps; }

  /// Makes run() throw aborted with this reason soon. Any thread may call it.
  void abort(std::string const& reason) noexcept { parts_->ranks->abort(reason); }
  /// As coset::team's.
  void reserve(std::size_t bytes) { parts_->ranks->reserve(bytes); }
  /// For making plans.
  operator coset::team&() noexcept { return *parts_->ranks; }

 private:
  struct parts {
    explicit parts(rank_t size) : ranks(detail::make_task_team(size)), under_way(size), done(size) {}

    std::unique_ptr<coset::team> ranks;
    std::vector<rank_t> under_way;  ///< unfinished ranks
    std::vector<char> done;         ///< [index into under_way]
    std::size_t sweeps = 0;
  };

  template <class Start>
  void run_started(Start& start) {
    using held = std::optional<std::invoke_result_t<Start&, member&>>;
    struct context {
      Start& start;
      std::vector<held> requests;
    };
    // A task that calls exit() destroys a static team while the other tasks are in it.
    std::shared_ptr<parts> const kept = parts_;
    detail::task_run under_way(*kept->ranks);
    {
      context all{start, std::vector<held>(size())};
      go_through(
          *kept, under_way,
          [](void* erased, member& me) {
            context& mine = *static_cast<context*>(erased);
            begin(me, mine.start, mine.requests[me.rank()]);
          },
          &all);
    }
    under_way.end();
  }

  template <class Start, class Held>
  static void begin(member& me, Start& start, Held& held) {
    held.emplace(detail::call_body(start, me));
    for (request const& one : task_room::requests_of(*held))
      if (!one.belongs_to(me)) detail::refuse(me.state(), "run: start returned a request that is not this rank's");
  }

  /// Isolated: a thread that waits for the tasks of a sweep must not take other tasks, which may need a lock that the
  /// caller's task holds, or run this very team. A template, so that compilers make oneTBB's loops only for programs that
  /// run a team.
  template <class Context>
  COSET_PER_COPY static void go_through(parts& of, detail::task_run& under_way, void (*body)(void*, member&),
                                        Context* context) {
    rank_t const size = of.ranks->size();
    of.under_way.resize(size);
    for (rank_t r = 0; r < size; ++r) of.under_way[r] = r;
    of.sweeps = 0;
    ::tbb::this_task_arena::isolate([&] {
      sweep(of, [&](rank_t r) { return under_way.start(r, body, context); });
      while (!of.under_way.empty()) sweep(of, [&](rank_t r) { return under_way.go_on(r); });
    });
  }

  template <class Step>
  COSET_PER_COPY static void sweep(parts& of, Step const& step) {
    ++of.sweeps;
    // Each step is isolated too: while an operation waits in a parallel loop of its own, its thread must not start
    // another rank's step, which would wait for this rank's array if the team fails.
    auto const one = [&](std::size_t k) {
      of.done[k] = ::tbb::this_task_arena::isolate([&] { return step(of.under_way[k]); });
    };
    of.under_way.size() == 1 ? one(0) : task_room::for_each_whatever_happens(0, of.under_way.size(), one);
    std::size_t left = 0;
    for (std::size_t k = 0; k < of.under_way.size(); ++k)
      if (!of.done[k]) of.under_way[left++] = of.under_way[k];
    of.under_way.resize(left);
  }

  std::shared_ptr<parts> const parts_;
};

}  // namespace coset::tbb
