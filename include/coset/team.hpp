// SPDX-License-Identifier: Apache-2.0
// Teams of threads as ranks: making one, running on it, joining it.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "coset/error.hpp"
#include "coset/topology.hpp"
#include "coset/visibility.h"

namespace coset {

class team;

namespace detail {
struct team_state;
struct rank_state;
COSET_API std::unique_ptr<team> make_task_team(rank_t);
}  // namespace detail

/// What a rank does while it waits for another.
enum class waiting : std::uint8_t {
  automatic,  ///< spin shortly, then yield, then sleep; yield at once where ranks exceed the processors
  spin,       ///< never yields: for dedicated cores only
  yield,      ///< spins and yields, never sleeps
  block       ///< sleeps soon: for teams that wait long
};

struct team_options {
  /// 0: one per core that this process may use; of several that a launcher (mpirun, srun) has started together on this
  /// host without binding them, each takes its share of the cores, unless more ranks than fit it are asked for.
  rank_t ranks = 0;
  placement place = placement::compact;
  waiting wait = waiting::automatic;
  std::vector<unsigned> processors = {};  ///< explicit: the operating system's processor index of each rank
};

/// One rank's handle. Collectives take it; only the thread that is this rank may use it.
class COSET_API member {
 public:
  using clock = std::chrono::steady_clock;

  rank_t rank() const noexcept;
  rank_t size() const noexcept;
  unsigned node() const noexcept;  ///< index into topology::nodes; unknown_node where it cannot be told
  static constexpr unsigned unknown_node = ~0u;

  /// Collective: the ranks that pass the same colour become a team of their own, in the order of (key, rank). It lives
  /// as long as one of its members, and fails with the team that it is part of; its members serve until this one's run()
  /// or membership ends. Cost: two collectives and the memory of a team.
  [[nodiscard]] member split(int colour, int key = 0);
  /// Collective: the ranks on this rank's node. One team where nodes are unknown.
  [[nodiscard]] member node_team();

  /// Collective, after a failure: once all ranks of the team have called it, the team works again. Requests, views and
  /// split members of before are void. Throws timed_out at the deadline if ranks are missing, and fails the team for
  /// those that come later; argument_error on a split team.
  void reset(clock::time_point deadline);

  explicit member(detail::rank_state& state) noexcept : state_(&state) {}
  explicit member(std::shared_ptr<detail::team_state> of_its_own, rank_t rank) noexcept;
  member(member&&) noexcept;
  member& operator=(member&&) noexcept;
  ~member();

  detail::rank_state& state() const noexcept { return *state_; }

 private:
  void leave() noexcept;

  detail::rank_state* state_;
  std::shared_ptr<detail::team_state> own_;  ///< of a split team
};

/// Membership of an adopted team: this thread is that rank until the guard leaves.
class COSET_API member_guard {
 public:
  explicit member_guard(detail::rank_state& state) noexcept;
  ~member_guard();  ///< left by an exception, it aborts the team
  member_guard(member_guard const&) = delete;
  member_guard& operator=(member_guard const&) = delete;

  operator member&() noexcept { return member_; }  ///< the guard stands for the member
  member& operator*() noexcept { return member_; }
  member* operator->() noexcept { return &member_; }

 private:
  std::shared_ptr<detail::team_state> team_;  ///< for as long as one of its ranks is inside
  member member_;
  int exceptions_;
};

/// P ranks that share one arena. Immovable: its members point into it.
class COSET_API team {
 public:
  using clock = std::chrono::steady_clock;

  /// P−1 pinned workers of this process on this machine; rank 0 is whoever calls run().
  /// Ranks that outnumber the processors share them. Throws topology_error if a processor is unknown or not allowed, or
  /// the system starts no thread for a rank or does not let it be pinned: the message names the rank and what would do.
  explicit team(team_options = {});
  /// The same, placed on a given topology; nothing is pinned if that is not this machine.
  team(topology const&, team_options);
  /// Members of split teams, requests and guards may outlive it; they serve for nothing then. Where run() is active, as
  /// exit() in a body has it, or after fork() in the child, its threads and memory are left to the end of the process.
  ~team();
  team(team const&) = delete;
  team& operator=(team const&) = delete;

  /// A team of `ranks` threads that the caller brings: an OpenMP region, std::threads. They join().
  static std::unique_ptr<team> adopt(rank_t ranks, team_options = {});

  rank_t size() const noexcept;

  /// Runs `body` on every rank and returns when all have ended; the caller is rank 0, pinned meanwhile.
  /// The first exception aborts the team and is rethrown here; the team is usable afterwards.
  /// Throws argument_error if called from inside run() or by two threads at once, and in a forked child, which has none
  /// of the threads. A body that ends its thread (pthread_exit(), cancellation) aborts the team as an exception does; if
  /// the thread was the team's own, no run() is possible any more, and each throws aborted. Collectives themselves are no
  /// cancellation points: a thread that is cancelled within one goes on until it comes out.
  template <std::invocable<member&> Body>
  void run(Body&& body) {
    run_erased([](void* context, member& me) { (*static_cast<std::remove_reference_t<Body>*>(context))(me); },
               const_cast<void*>(static_cast<void const*>(std::addressof(body))));
  }

  /// Adopted teams, collective: the calling thread becomes rank `rank` until the guard leaves; returns when all ranks
  /// have joined. Throws timed_out at the deadline if threads are missing or the rank is still taken, argument_error
  /// if there is no such rank.
  member_guard join(rank_t rank, clock::time_point deadline = clock::now() + std::chrono::seconds(30));

  /// Every rank that waits in a collective, or enters one, throws aborted with this reason. From any thread.
  void abort(std::string const& reason) noexcept;

  /// Makes room for staging of `bytes` per rank ahead of the first call; only while no run() is active. Throws
  /// argument_error naming the bytes if there is no such memory; the team is as before then.
  void reserve(std::size_t bytes);

  detail::team_state& state() const noexcept { return *state_; }

 private:
  friend std::unique_ptr<team> detail::make_task_team(rank_t);

  explicit team(std::shared_ptr<detail::team_state>);
  void run_erased(void (*body)(void*, member&), void* context);

  std::shared_ptr<detail::team_state> state_;
};

}  // namespace coset
