// SPDX-License-Identifier: Apache-2.0
// Teams of threads as ranks: making one, running on it, joining it.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "coset/detail/standard_parts.hpp"
#include "coset/detail/visibility.h"
#include "coset/error.hpp"
#include "coset/topology.hpp"

namespace coset::inline COSET_ABI {

class member;
class team;

namespace detail {
struct team_state;
struct rank_state;
/// A team for task_run; run() and join() refuse it. Throws argument_error for 0 ranks.
COSET_API std::unique_ptr<team> make_task_team(rank_t ranks);

/// What run() takes; the compiler says if not.
template <class Body>
constexpr bool is_body() {
  constexpr bool takes_a_member = std::invocable<Body&, member&>;
  static_assert(takes_a_member, "run() calls its body with a member, its rank: [](coset::member& me) { ... }");
  return takes_a_member;
}
/// Calls a body, also one that is a member function of the member; <functional> takes long to read.
template <class Body>
decltype(auto) call_body(Body& body, member& me) {
  if constexpr (std::is_member_pointer_v<Body>) {
    return (me.*body)();
  } else {
    return body(me);
  }
}
template <class Body>
void require_body([[maybe_unused]] Body const& body) {
  if constexpr (std::is_pointer_v<Body>)
    if (body == nullptr) throw argument_error("run: the body is NULL");
}
}  // namespace detail

/// How a rank waits for another. If that takes longer than COSET_STUCK says (60 s), the team says once on standard error
/// where its ranks are, as dump() does; longer than COSET_TIMEOUT, and all its ranks throw timed_out.
enum class waiting : std::uint8_t {
  automatic,  ///< spins briefly, then yields, then sleeps; yields at once if ranks outnumber the processors
  spin,       ///< never yields: for dedicated cores only
  yield,      ///< spins and yields, never sleeps
  block       ///< sleeps soon: for teams with long waits
};

struct team_options {
  /// 0: one per core that this process may use. Where a launcher (mpirun, srun) has started several processes on this
  /// host without binding them, each process uses its share of the cores, unless it asks for more ranks than fit its
  /// share.
  rank_t ranks = 0;
  placement place = placement::compact;
  waiting wait = waiting::automatic;
  std::vector<unsigned> processors = {};  ///< explicit: the operating system's processor index of each rank
  /// Of staging, views and the members' buffers. The lines through which ranks signal have the lowest latency always.
  memory_kind memory = memory_kind::automatic;
};

/// One rank's handle, which collectives take. Only the thread that is this rank may use it.
class COSET_API member {
 public:
  using clock = std::chrono::steady_clock;

  rank_t rank() const noexcept;
  rank_t size() const noexcept;
  unsigned node() const noexcept;  ///< index into topology::nodes; unknown_node if it is not known
  static constexpr unsigned unknown_node = ~0u;

  /// Collective: the ranks that pass the same colour become a team of their own, ordered by (key, rank). The new team
  /// lives as long as one of its members, and fails when its parent team fails; its members are valid until the
  /// parent's run() or membership ends. Any colour is one, negative ones too.
  /// Cost: two collectives and the memory of a team. For members of a team over processes see mpi::team.
  [[nodiscard]] member split(int colour, int key = 0);
  /// Collective: splits the team into one team for the ranks of each node that share memory. One team for these where nodes
  /// are unknown.
  [[nodiscard]] member node_team();

  /// Collective, after a failure: once all ranks of the team have called it, the team works again. Earlier requests,
  /// views and split members are void. Throws timed_out at the deadline if ranks are missing, and then also for those
  /// that come later; argument_error on a split team.
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

/// Membership in an adopted team: this thread is that rank until the guard leaves.
class COSET_API member_guard {
 public:
  explicit member_guard(detail::rank_state& state) noexcept;
  ~member_guard();  ///< aborts the team if an exception destroys the guard
  member_guard(member_guard const&) = delete;
  member_guard& operator=(member_guard const&) = delete;

  operator member&() noexcept { return member_; }  ///< the guard stands for the member
  member& operator*() noexcept { return member_; }
  member* operator->() noexcept { return &member_; }

 private:
  std::shared_ptr<detail::team_state> team_;  ///< alive while one of its ranks is inside
  member member_;
  int exceptions_;
};

/// P ranks that share one arena. Immovable, as its members point into it.
///
/// The threads of a team that is destroyed wait COSET_IDLE seconds (5) for the next one that is asked for alike, by a thread that is
/// alike: it has them, its memory and its plans at once. So what a body has done to its thread stays with it: a directory or
/// descriptors of its own, a filter of system calls; and its thread_local objects live on, and are not destroyed if the process ends
/// meanwhile. Whoever counts on their destructors calls end_idle_teams(), or sets COSET_IDLE=0. Not kept are teams beyond the eighth,
/// those that have failed or grown by more than 8 MiB, and all under COSET_TRACE or COSET_LOG=plan. Between runs the threads block all
/// signals.
class COSET_API team {
 public:
  using clock = std::chrono::steady_clock;

  /// P−1 pinned worker threads of this process; rank 0 is the thread that calls run(). Cost: the first team of a process 5 to 9 ms,
  /// most of it hwloc's; later ones 100 to 300 µs, or some 10 if an idle one is alike; COSET_LOG=team tells. Ranks that outnumber the
  /// processors share them. Throws topology_error if a processor is unknown or not allowed, or if the system cannot
  /// start or pin a rank's thread: the message names the rank and a remedy.
  explicit team(team_options = {});
  /// The same, placed on a given topology. Nothing is pinned if that is not this machine.
  team(topology const&, team_options);
  /// Members of split teams, requests and guards may outlive the team, but are then of no use. If run() is active, as
  /// when a body calls exit(), the team's threads and memory stay until the process ends.
  /// A forked child finds teams, members, requests and plans of any kind, of which it has no thread but the one that forked:
  /// whoever uses them there gets argument_error, and destroying them does nothing. The child may make teams of threads, and
  /// goes on with reducers and buffers. A body that has forked is in the child, too, and ends there by exit(), _exit() or
  /// exec. If it returns there, run() throws argument_error on rank 0; another rank's thread, the child's only one, ends as
  /// threads do.
  ~team();
  team(team const&) = delete;
  team& operator=(team const&) = delete;

  /// A team of `ranks` threads that the caller provides: std::threads, or those of an OpenMP region, which may be fewer
  /// than omp_get_max_threads(): adopt omp_get_num_threads() within it. They call join().
  static std::unique_ptr<team> adopt(rank_t ranks, team_options = {});

  rank_t size() const noexcept;

  /// Runs `body` on every rank and returns when all bodies have ended; the caller is rank 0, pinned meanwhile. The
  /// first exception aborts the team and is rethrown here; the team is usable afterwards. Throws argument_error if
  /// called inside run() or by two threads at once, and in a forked child. A body that
  /// ends its thread (pthread_exit(), cancellation) aborts the team as an exception does; if the thread was the team's
  /// own, every later run() throws aborted. Collectives are no cancellation points: a thread that is cancelled within
  /// one continues until the collective returns.
  template <class Body>
  void run(Body&& body) {
    if constexpr (detail::is_body<Body>()) {
      detail::require_body(body);
      auto call = [&body](member& me) { detail::call_body(body, me); };
      run_erased([](void* context, member& me) { (*static_cast<decltype(call)*>(context))(me); }, &call);
    }
  }

  /// Adopted teams, collective: the calling thread becomes rank `rank` until the guard leaves. Returns when all ranks
  /// have joined. Throws timed_out at the deadline if threads are missing or the rank is still taken; argument_error if
  /// there is no such rank, and at once in an OpenMP region of fewer threads than the team has ranks.
  member_guard join(rank_t rank, clock::time_point deadline = clock::now() + std::chrono::seconds(30));

  /// Every rank that waits in a collective, or enters one, throws aborted with this reason. Any thread may call it.
  void abort(std::string const& reason) noexcept;

  /// Reserves staging memory of `bytes` per rank ahead of the first call. Call it only while no run() is active. Throws
  /// argument_error naming the bytes if there is not enough memory; the team then stays as it was.
  void reserve(std::size_t bytes);

  detail::team_state& state() const noexcept { return *state_; }

 private:
  friend std::unique_ptr<team> detail::make_task_team(rank_t);

  explicit team(std::shared_ptr<detail::team_state>);
  void run_erased(void (*body)(void*, member&), void* context);

  std::shared_ptr<detail::team_state> state_;
};

/// Ends the threads, and frees the memory, of teams that have ended, which are kept for COSET_IDLE seconds in case that such a
/// team is asked for again. Returns once the threads have ended. For who needs a process of one thread, as
/// unshare(CLONE_NEWUSER) does, or has changed what is not looked at: namespaces, capabilities, memory policy, a profile in
/// its usual place. Any thread may call it; that of a rank waits for no others.
COSET_API void end_idle_teams() noexcept;

/// Writes where the ranks of a team are: a line for each group of ranks that are alike, which says in what operation and
/// step they wait, for whom and for how long; else which operation they began last. Ranks tell that they wait once they have
/// done so for some microseconds.
///
/// Any thread may call it at any time while the team lives, one that is no rank too, such as a thread that waits for
/// signals; but no signal handler, as it allocates. It takes no lock of coset's and keeps no rank waiting. Ranks go on
/// meanwhile, so what is said of one may be older than what is said of another.
/// Cost: some µs, and one cache line or more of each rank.
COSET_API void dump(team const&, std::ostream&);

}  // namespace coset
