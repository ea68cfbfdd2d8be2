// SPDX-License-Identifier: Apache-2.0
// Teams over processes: what is found out once, and what begins and ends each run.
#include "coset/mpi.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>

#include "mpi/post.hpp"
#include "mpi/window.hpp"
#include "numa/binding.hpp"
#include "team/domain_team.hpp"

namespace coset::mpi {
namespace {

using team_room::domain;
using team_room::domain_team;

/// More lanes than this send no faster; each is a communicator.
constexpr rank_t most_lanes = 8;

/// Staging with which sharing memory is still worth it.
constexpr std::int64_t least_staging = 16 * 1024;

/// MPI counts bytes in an int. What is longer goes in segments.
constexpr std::size_t longest_message = std::size_t{1} << 30;

/// Where both MPIs have their windows. They would not notice that it is full.
std::uint64_t shared_memory_left() {
  struct statvfs found {};
  return statvfs("/dev/shm", &found) == 0 ? std::uint64_t{found.f_bavail} * found.f_frsize : 0;
}

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  require(MPI_Query_thread(&level), "MPI_Query_thread");
  return level;
}

char const* name_of(int level) {
  return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "MPI_THREAD_MULTIPLE";
}

/// Rounds of all teams that there have been. The library gives a freed communicator's place to a new one, where messages
/// that nobody has taken, of a failed round, must not be taken for those of the first.
std::atomic<std::uint32_t> latest_round = 0;

/// Of all that processes have to agree on, as they choose plans alike: options, and what the environment says of plans.
std::uint64_t hash_of_wishes(options const& wanted) {
  std::string text =
      fmt::format("{} {} {} {}", wanted.deadline.count(), wanted.staging_bytes, wanted.library_leaders, wanted.tree);
  for (verb const what : all_verbs()) {
    std::string name = fmt::format("COSET_{}", name_of(what));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    char const* const set = std::getenv(name.c_str());
    text += fmt::format(" {}", set == nullptr ? "" : set);
  }
  return detail::hash_of(text);
}

/// How many threads of this process may send and receive.
rank_t lanes_of(rank_t threads, options const& wanted) {
  if (thread_level() < MPI_THREAD_MULTIPLE) return 1;
  return std::min(threads, wanted.leaders != 0 ? wanted.leaders : most_lanes);
}

/// Which ranks share memory: those of a host, or of a process.
domain spread_over(landscape const& of, bool by_host, int self) {
  domain part;
  part.total = of.ranks;
  part.pointers = true;
  for (process const& p : of.processes) {
    rank_t const first = by_host ? of.first_of_host(p.host) : p.first;
    rank_t const last = by_host ? first + of.ranks_of_host(p.host) : p.first + p.threads;
    for (rank_t t = 0; t < p.threads; ++t) {
      part.spread.first.push_back(first);
      part.spread.last.push_back(last);
      part.spread.carrier.push_back(p.first + t % p.lanes);
    }
    part.pointers &= last - first == p.threads;
    part.crowded |= p.crowded;
    if (p.rank == self) part.first = first;
  }
  return part;
}

}  // namespace

struct team::state {
  state(MPI_Comm of, coset::team& team_of_threads, options const& wanted);

  void run(void (*body)(void*, member&), void* context);
  bool can_be_destroyed() noexcept;

  coset::team& threads;
  options const wanted;
  int const level = thread_level();
  communicator all, host;
  landscape places;
  process mine;
  std::optional<post> messages;  ///< none where this process is all there is
  window shared;
  domain part;
  std::optional<domain_team> ranks;
  std::uint32_t round = 0;
  std::atomic<bool> running = false;
  std::string broken;  ///< why nothing collective can work any more; some process was not heard of, say

 private:
  void check_level() const;
  void share_memory();
  void let_library_combine();
  void begin();
  void end(std::exception_ptr const& thrown);
  bool agree(bool well);
  void listen_for_losses();
};

team::state::state(MPI_Comm of, coset::team& team_of_threads, options const& w)
    : threads(team_of_threads), wanted(w), all(communicator::duplicate_of(of)), host(communicator::host_of(all.get())) {
  check_level();
  int on_host = static_cast<int>(threads.size()), all_on_host = 0;
  require(MPI_Allreduce(&on_host, &all_on_host, 1, MPI_INT, MPI_SUM, host.get()), "MPI_Allreduce");
  bool const crowded =
      threads.size() > numa::usable_processors() || all_on_host > static_cast<int>(std::thread::hardware_concurrency());
  places = survey(all, host, {threads.size(), lanes_of(threads.size(), wanted), crowded}, wanted.tree);
  mine = places.of_process(all.rank());
  round = std::ranges::max(gather_from_all(all, latest_round.load()));
  if (places.processes.size() == 1) return;
  messages.emplace(all.get(), places, wanted.deadline);
  share_memory();
  let_library_combine();
  part.messages = &*messages;
  rank_t const first = part.spread.first[mine.first], last = part.spread.last[mine.first];
  auto const make_ranks = [&] {
    ranks.emplace(threads.state(), part, last - first, mine.first - first,
                  last - first > mine.threads ? shared.memory() : numa::memory());
  };
  all_or_none(all, make_ranks, " cannot make its ranks");
}

/// What one process cannot do no process can.
void team::state::check_level() const {
  bool const adopted = threads.state().workers == nullptr;
  bool const too_low = threads.size() > 1 && level < MPI_THREAD_FUNNELED;
  auto const everywhere = gather_from_all(all, adopted || too_low ? 1 : 0);
  auto const wishes = gather_from_all(all, hash_of_wishes(wanted));
  if (adopted)
    throw argument_error(
        "a team of adopted threads cannot be part of one over processes: its threads join(), not run()");
  if (too_low)
    throw error(fmt::format("{} threads under {}: MPI_Init_thread has to ask for MPI_THREAD_FUNNELED at least",
                            threads.size(), name_of(level)));
  if (std::ranges::adjacent_find(wishes, std::ranges::not_equal_to()) != wishes.end())
    throw error("the processes have other options, or other plans in their environment: COSET_ALLREDUCE and the like");
  auto const other = std::ranges::find(everywhere, 1);
  if (other != everywhere.end()) throw error(fmt::format("process {} cannot take part", other - everywhere.begin()));
}

/// By hosts if every host has the memory, else by processes; the same everywhere. Containers often have little: less than
/// was wanted still serves, in shorter segments.
void team::state::share_memory() {
  rank_t const on_host = places.ranks_of_host(mine.host);
  team_room::node_list const nodes(on_host, team_room::anywhere);
  std::uint64_t room = shared_memory_left() / 2;
  require(MPI_Bcast(&room, 1, MPI_UINT64_T, 0, host.get()), "MPI_Bcast");
  // MPICH 4.0.2 takes the minimum of unsigned numbers for that of signed ones.
  std::int64_t here = std::numeric_limits<std::int64_t>::max(), everywhere = 0;
  if (on_host != mine.threads) {
    for (here = static_cast<std::int64_t>(wanted.staging_bytes); here >= least_staging; here /= 4) {
      std::size_t const bytes = team_room::arena::bytes_for(nodes, static_cast<std::size_t>(here));
      if (bytes > room) continue;
      shared = window(host, bytes, team_room::arena::bytes_for(nodes, 0));
      if (!shared.empty()) break;
    }
    if (shared.empty()) here = 0;
  }
  require(MPI_Allreduce(&here, &everywhere, 1, MPI_INT64_T, MPI_MIN, all.get()), "MPI_Allreduce");
  part = spread_over(places, everywhere != 0, mine.rank);
  part.most_staging = part.pointers ? longest_message : static_cast<std::size_t>(everywhere);
}

/// Where there is more than one domain.
void team::state::let_library_combine() {
  if (wanted.library_leaders == 0 || part.spread.last[0] == places.ranks) return;
  part.spread.combiners = program::combiners_of(part.spread, wanted.library_leaders);
  std::vector<std::vector<int>> members;
  for (auto const& slice : part.spread.combiners) {
    auto& processes = members.emplace_back();
    for (rank_t const r : slice) processes.push_back(places.of_rank(r).rank);
  }
  messages->combine_between(all, std::move(members));
}

void team::state::run(void (*body)(void*, member&), void* context) {
  if (!broken.empty()) throw error("this team cannot run any more: " + broken);
  int is_main = 0;
  require(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (level <= MPI_THREAD_FUNNELED && is_main == 0)
    throw argument_error(
        fmt::format("run() by another thread than the one that initialised MPI, under {}", name_of(level)));
  if (running.exchange(true))
    throw argument_error("run() inside run(), or by two threads at once: a team runs one body at a time");
  struct ending {
    std::atomic<bool>& running;
    ~ending() { running = false; }
  } const until_here{running};
  if (!messages) {
    threads.run([&](member& me) { body(context, me); });
    return;
  }
  begin();
  std::exception_ptr thrown;
  try {
    threads.run([&](member& thread) { ranks->run_rank(thread, body, context); });
  } catch (...) {
    thrown = std::current_exception();
    // Another thread may have left before the one that it heard this of.
    if (auto const original = ranks->state().failure.original()) thrown = original;
  }
  end(thrown);
}

/// All processes have left the round before. What they share of it is forgotten, and channels go on from where the
/// furthest rank was.
void team::state::begin() try {
  auto const everywhere =
      gather_from_all(all, ranks->furthest(), wanted.deadline, {}, "all processes to begin their run()");
  domain_team::positions together = everywhere[0];
  for (auto const& p : everywhere) {
    for (std::size_t c = 0; c < together.size(); ++c) together[c] = team_room::further(together[c], p[c]);
  }
  ++round;
  latest_round = std::max(latest_round.load(), round);
  // Nobody goes on before all have begun: channels might be behind.
  auto const begin_here = [&] {
    bool const first_of_domain = part.first == mine.first;
    if (!ranks->state().one_process && first_of_domain) ranks->state().failure.clear();
    messages->begin(round);
    ranks->begin(round, together);
  };
  all_or_none(all, begin_here, " cannot begin its run()", wanted.deadline);
} catch (std::exception const& failed) {
  broken = failed.what();
  throw;
}

/// A process whose ranks let an exception out tells of it before all agree on whether one did; no process is waited for
/// once one is missing. As on one machine, a failure that every body has caught is not run()'s.
void team::state::end(std::exception_ptr const& thrown) {
  detail::team_state& team = ranks->state();
  bool const failed = team.failure.recorded();
  if (thrown || failed) messages->tell(team, "a rank left by an exception");
  if (failed && team.failure.first().first == team_room::cause::messages) broken = team.failure.first().second;
  try {
    if (broken.empty() && agree(!thrown)) return;
  } catch (std::exception const& lost) {
    broken = lost.what();
    team.fail(team_room::cause::messages, lost.what());
    messages->tell(team, {});
  }
  if (thrown) std::rethrow_exception(thrown);
  if (!broken.empty()) throw error(broken);
  team.failure.raise();
}

/// Whether no process has anything to throw. If some rank has failed, no message of this run is under way afterwards, and
/// all know why.
bool team::state::agree(bool well) {
  struct ending {
    bool well, failed;
  };
  struct account {
    bool well;
    team_room::cause why;
    std::array<char, 512> reason;
  };
  auto const together = [&](auto const& said) {
    return gather_from_all(
        all, said, wanted.deadline, [&] { listen_for_losses(); }, "all processes to end their run()");
  };
  detail::team_state& team = ranks->state();
  auto const endings = together(ending{well, !well || team.failure.recorded()});
  if (std::ranges::none_of(endings, &ending::failed)) return true;
  ranks->give_up_messages();
  messages->combine_anew(all);
  account own{well, team_room::cause::aborted, {}};
  if (!well && team.failure.recorded()) {
    auto const [why, reason] = team.failure.first();
    own.why = why;
    std::copy_n(reason.begin(), std::min(reason.size(), own.reason.size() - 1), own.reason.begin());
  }
  // Who waits for the rest of what he gives up needs its sender here until then.
  auto const accounts = together(own);
  auto const unwell = std::ranges::find(accounts, false, &account::well);
  if (unwell == accounts.end()) return true;
  team.fail(unwell->why, unwell->reason.data());
  return false;
}

/// Throws if a process is lost, or another one takes one for lost.
void team::state::listen_for_losses() {
  messages->listen(ranks->state());
  if (messages->has_heard_of_loss()) throw error("a process has told that another one is missing");
}

/// Collective: whether all can be destroyed. If a process is gone, or MPI may still read what a failed run has left
/// behind on one of them, no process waits for the others, and all leave what they have to MPI. No deadline: it would not
/// pass everywhere alike, and who thinks that all are here waits in MPI for those that have gone on.
bool team::state::can_be_destroyed() noexcept try {
  if (!messages) return true;
  if (!broken.empty()) return false;
  auto const left_behind = gather_from_all(all, messages->has_left_behind() ? 1 : 0, {}, [&] { listen_for_losses(); });
  return std::ranges::find(left_behind, 1) == left_behind.end();
} catch (std::exception const&) {
  return false;
}

team::team(MPI_Comm of, coset::team& threads, options const& wanted) : state_(new state(of, threads, wanted)) {}
team::~team() {
  if (!state_->can_be_destroyed()) static_cast<void>(state_.release());
}

rank_t team::size() const noexcept { return state_->places.ranks; }
rank_t team::first() const noexcept { return state_->mine.first; }
rank_t team::threads() const noexcept { return state_->mine.threads; }
int team::processes() const noexcept { return static_cast<int>(state_->places.processes.size()); }
int team::hosts() const noexcept { return static_cast<int>(state_->places.hosts.size()); }

std::string team::describe() const {
  state const& s = *state_;
  auto const count = [](std::size_t number, char const* one, char const* many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
  };
  std::string text = fmt::format("{} of {} on {}", count(s.places.ranks, "rank", "ranks"),
                                 count(s.places.processes.size(), "process", "processes"),
                                 count(s.places.hosts.size(), "host", "hosts"));
  if (!s.messages) return text;
  bool const by_host = !s.part.pointers;
  text += by_host ? ", which share memory within hosts" : ", which share memory within processes";
  if (!s.shared.empty() || !by_host || s.places.hosts.size() > 1) {
    rank_t const lanes = s.mine.lanes;
    text += fmt::format(", {} of process {} {} messages under {}", count(lanes, "rank", "ranks"), s.mine.rank,
                        lanes == 1 ? "carries" : "carry", name_of(s.level));
    if (auto const slices = s.part.spread.combiners.size(); slices != 0)
      text += fmt::format(", MPI_Iallreduce combines up to {}", count(slices, "slice", "slices"));
  }
  return text;
}

void team::run_erased(void (*body)(void*, member&), void* context) { state_->run(body, context); }

}  // namespace coset::mpi
