// SPDX-License-Identifier: Apache-2.0
// The facts that a team over processes finds out once, and the objects that it makes.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "environment/variables.hpp"
#include "mpi/clocks.hpp"
#include "mpi/joint.hpp"
#include "mpi/network.hpp"
#include "program/program.hpp"
#include "text/format.hpp"
#include "trace/process.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

using runtime::domain;
using runtime::floating_point_mode;

/// More lanes than this send no faster; each is a communicator.
constexpr rank_t most_lanes = 8;

/// The least staging that makes sharing memory worthwhile.
constexpr std::int64_t least_staging = 16 * 1024;

/// Called before anything else: returns MPI's thread level. MPI's own calls would end the program if they failed here.
int level_for(MPI_Comm of) {
  if (is_of_parent())
    throw argument_error("a team over processes cannot be made in a forked child: MPI is the parent's");
  if (is_finalized()) throw error("a team over processes cannot be made after MPI_Finalize");
  if (of == MPI_COMM_NULL) throw argument_error("MPI_COMM_NULL has no processes that could be a team");
  if (!is_initialized() && (of == MPI_COMM_WORLD || of == MPI_COMM_SELF))
    throw error("a team over processes cannot be made before MPI_Init_thread");
  int joins_two_groups = 0, level = MPI_THREAD_SINGLE;
  require(MPI_Comm_test_inter(of, &joins_two_groups), "MPI_Comm_test_inter");
  if (joins_two_groups != 0)
    throw argument_error("an intercommunicator has two groups: merge them with MPI_Intercomm_merge to make a team");
  require(MPI_Query_thread(&level), "MPI_Query_thread");
  return level;
}

/// While this process waits for others to found a team, they may wait for it in others of its teams.
std::function<void()> attention_to_others() {
  return [since = std::chrono::steady_clock::now()] {
    if (std::chrono::steady_clock::now() - since > until_others_are_looked_after) attend_all_residents();
  };
}

/// Of what processes must have in common to choose the same plans: the options, and the plans in the environment.
std::uint64_t hash_of_wishes(options const& wanted) {
  std::string text =
      text::format("{} {} {} {}", wanted.deadline.count(), wanted.staging_bytes, wanted.library_leaders, wanted.tree);
  for (verb const what : all_verbs()) text += text::format(" {}", environment::plans_of(what));
  return detail::hash_of(text);
}

/// How many threads of this process may send and receive.
rank_t lanes_of(rank_t threads, int level, options const& wanted) {
  if (level < MPI_THREAD_MULTIPLE) return 1;
  return std::min(threads, wanted.leaders != 0 ? wanted.leaders : most_lanes);
}

/// Which ranks share memory: those of a host, or of a process.
domain spread_over(process_map const& of, bool by_host, int self) {
  domain part;
  part.total = of.ranks;
  part.pointers = true;
  int latest_host = -1;
  for (process const& p : of.processes) {
    bool const has_memory_of_its_own = !by_host || p.host != latest_host;
    if (has_memory_of_its_own) part.spread.domains.push_back(p.first);
    part.pointers &= has_memory_of_its_own;
    part.crowded |= p.crowded;
    part.spread.processes.push_back({p.first, p.lanes});
    latest_host = p.host;
    if (p.rank != self) continue;
    part.spread.own = part.spread.domains.size() - 1;
    part.first = part.spread.domains.back();
  }
  part.spread.domains.push_back(of.ranks);
  if (part.spread.domains.size() == of.hosts.size() + 1) part.spread.switches = of.switches;
  return part;
}

}  // namespace

char const* name_of_level(int level) {
  return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "MPI_THREAD_MULTIPLE";
}

team::state::state(MPI_Comm of, coset::team& team_of_threads, options const& w)
    : threads_(team_of_threads),
      wanted_(w),
      level_(level_for(of)),
      pool_(pool::of(of, attention_to_others())),
      self_(pool_->founders().rank()) {
  introduce();
  mine_ = map_.of_process(self_);
  bool const is_alone = map_.processes.size() == 1;
  if (!is_alone) {
    take_seat();
    messages_.emplace(*connections_, map_, wanted_.deadline, round_, level_ == MPI_THREAD_MULTIPLE);
    share_memory();
    look_at_network();
    set_up_offload();
    part_.messages = &*messages_;
  }
  bool const is_lent = threads_.state().membership.adopted != nullptr;
  if (!is_alone || is_lent) make_ranks();
  if (is_lent) lend_threads();
  description_ = describe();
  enter();
}

pool::facts team::state::own_facts() const {
  rank_t const threads = threads_.size();
  bool const crowded = threads > threads_.state().processors;
  return {{threads, lanes_of(threads, level_, wanted_), crowded}, hash_of_wishes(wanted_)};
}

/// Whoever reads a tree reads it again.
pool::survey const& team::state::get_to_know(pool::facts const& mine, record const& everywhere) {
  if (auto const* const known = pool_->survey_of(everywhere); known != nullptr && wanted_.tree.empty()) return *known;
  rank_t const all_on_host = reduce_over_all(pool_->host(), mine.part.threads, MPI_UINT32_T, MPI_SUM);
  own_part part = mine.part;
  part.crowded |= all_on_host > std::thread::hardware_concurrency();
  return pool_->note_survey(mine, survey(pool_->founders(), pool_->host(), part, wanted_.tree));
}

/// If one process cannot take part, the constructor throws on all.
void team::state::introduce() {
  auto* const adopted = threads_.state().membership.adopted.get();
  bool const too_low = threads_.size() > 1 && level_ < MPI_THREAD_FUNNELED;
  std::exception_ptr in_use;
  try {
    if (adopted != nullptr) borrowed_.take(*adopted);
  } catch (std::exception const&) {
    in_use = std::current_exception();
  }
  record own(occasion::constructing);
  pool::facts const mine = own_facts();
  if (in_use || too_low) own.unwell = self_;
  own.wishes = record::range(mine.wishes);
  own.threads.kind = record::range(adopted != nullptr);
  own.latest_round = latest_round();
  own.all_record = trace::is_on();
  if (self_ == 0) own.threads.mode = floating_point_mode::of_this_thread().in_common();
  record const everywhere = pool_->meet_founders(own, mine, attention_to_others());
  if (in_use) std::rethrow_exception(in_use);
  if (too_low)
    throw error(text::format("{} threads under {}: MPI_Init_thread has to ask for MPI_THREAD_FUNNELED at least",
                             threads_.size(), name_of_level(level_)));
  if (!everywhere.wishes.is_one())
    throw error("the processes have other options, or other plans in their environment: COSET_ALLREDUCE and the like");
  if (!everywhere.threads.kind.is_one())
    throw error("some processes have adopted threads, which join(), and some have threads that run()");
  if (everywhere.unwell != nobody) throw error(text::format("process {} cannot take part", everywhere.unwell));
  mode_ = floating_point_mode::from_common(everywhere.threads.mode);
  round_ = everywhere.latest_round + 1;
  note_round(round_);
  pool::survey const& known = get_to_know(mine, everywhere);
  map_ = known.found;
  survey_ = known.number;
  if (trace::is_on()) identify_process(pool_->founders());
  if (everywhere.all_record) align_clocks(pool_->founders());
  connections_ = pool_->take(everywhere, known);
}

/// Those of a team with fewer lanes, or fewer threads, do not serve one with more.
void team::state::take_seat() {
  rank_t const lanes = std::ranges::max(map_.processes, {}, &process::lanes).lanes;
  rank_t const threads = std::ranges::max(map_.processes, {}, &process::threads).threads;
  seat& own = connections_->lanes;
  if (own.of == nullptr || !own.of->serve(lanes, threads)) own = pool_->seat_among(lanes, threads);
}

/// Per host if every host has the memory, else per process; the same everywhere. Containers often have little: less
/// than the staging wanted still serves, in shorter segments.
void team::state::share_memory() {
  rank_t const on_host = map_.ranks_of_host(mine_.host);
  runtime::node_list const nodes(on_host, runtime::anywhere);
  connections& own = *connections_;
  if (own.survey != survey_) {
    own.shared = {};
    own.staging = shared_staging(nodes);
    own.survey = survey_;
  } else if (!own.shared.empty()) {
    own.shared.renew(pool_->host(), runtime::arena::bytes_for(nodes, 0));
  }
  part_ = spread_over(map_, own.staging != 0, mine_.rank);
  part_.most_staging = part_.pointers ? longest_message : static_cast<std::size_t>(own.staging);
  part_.passed = own.shared.passed();
  part_.own_cache_bytes = own.own_cache_bytes;
}

/// Makes the window, where this host's processes share memory.
std::int64_t team::state::shared_staging(runtime::node_list const& nodes) {
  connections& own = *connections_;
  own.own_cache_bytes = threads_.state().shape.memory.own_cache_bytes;
  require(MPI_Bcast(&own.own_cache_bytes, 1, MPI_UINT64_T, 0, pool_->host().get()), "MPI_Bcast");
  bool const is_alone = nodes.size() == mine_.threads;
  // MPICH 4.0.2 computes the minimum of unsigned numbers as if they were signed.
  std::int64_t const here = is_alone ? std::numeric_limits<std::int64_t>::max() : open_window(nodes);
  return reduce_over_all(pool_->founders(), here, MPI_INT64_T, MPI_MIN);
}

/// The most staging that this host has room for.
std::int64_t team::state::open_window(runtime::node_list const& nodes) {
  using runtime::passing;
  for (auto here = static_cast<std::int64_t>(wanted_.staging_bytes); here >= least_staging; here /= 2) {
    std::size_t const bytes = runtime::arena::bytes_for(nodes, static_cast<std::size_t>(here));
    for (passing const how : {passing::by_descriptor, passing::by_path}) {
      connections_->shared = window(pool_->host(), bytes, how);
      if (!connections_->shared.empty()) return here;
    }
  }
  return 0;
}

/// Only if there is more than one domain.
void team::state::look_at_network() {
  if (part_.spread.is_one_domain()) return;
  runtime::computing_in const alike_everywhere(floating_point_mode::usual(), detail::arithmetic::floating_point);
  auto& known = pool_->network(connections_->staging != 0);
  if (!known) known = measured_network(pool_->founders(), mine_.first == part_.first);
  part_.spread.network = known;
  messages_->fit_to(*part_.spread.network);
}

/// Only if there is more than one domain.
void team::state::set_up_offload() {
  if (wanted_.library_leaders == 0 || part_.spread.is_one_domain()) return;
  part_.spread.combiners = program::combiners_of(part_.spread, wanted_.library_leaders);
  std::vector<std::vector<int>> members;
  for (auto const& slice : part_.spread.combiners) {
    auto& processes = members.emplace_back();
    for (rank_t const r : slice) processes.push_back(map_.of_rank(r).rank);
  }
  messages_->offload_between(std::move(members));
}

void team::state::make_ranks() {
  if (!messages_) part_ = {.total = map_.ranks};
  part_.mode = mode_;
  bool const all_here = !messages_;
  rank_t const first = all_here ? 0 : part_.first;
  rank_t const last = all_here ? map_.ranks : part_.spread.domains[part_.spread.own + 1];
  auto const make = [&] {
    ranks_.emplace(threads_.state(), part_, last - first, mine_.first - first,
                   last - first > mine_.threads ? connections_->shared.memory() : numa::memory());
  };
  all_or_none(pool_->founders(), make, " cannot make its ranks");
  if (std::uint32_t const number = ranks_->state().shared.marks.team; number != 0 && messages_)
    trace::name_joint_team(number, agreed_name(pool_->founders(), round_));
}

/// Their first round begins here, and lasts as long as nothing fails. A rank that sends nothing cannot tell other processes of
/// a failure.
void team::state::lend_threads() {
  ranks_->lend_threads([this](rank_t thread) {
    bool const may_send = level_ == MPI_THREAD_MULTIPLE || thread == 0;
    if (messages_ && may_send && !is_finalized()) messages_->tell(ranks_->state(), "a rank ended with an exception");
  });
  begin();
}

/// What was discovered, and what is used of it.
std::string team::state::describe() const {
  auto const count = [](std::size_t number, char const* one, char const* many) {
    return text::format("{} {}", number, number == 1 ? one : many);
  };
  std::string text =
      text::format("{} of {} on {}", count(map_.ranks, "rank", "ranks"),
                   count(map_.processes.size(), "process", "processes"), count(map_.hosts.size(), "host", "hosts"));
  if (!messages_) return text;
  bool const by_host = !part_.pointers;
  text += by_host ? ", which share memory within hosts" : ", which share memory within processes";
  if (by_host && part_.passed == runtime::passing::by_path) text += " by a file in /dev/shm";
  if (!connections_->shared.empty() || !by_host || map_.hosts.size() > 1) {
    rank_t const lanes = mine_.lanes;
    text += text::format(", {} of process {} {} messages under {}", count(lanes, "rank", "ranks"), mine_.rank,
                         lanes == 1 ? "carries" : "carry", name_of_level(level_));
    if (auto const& network = part_.spread.network)
      text += text::format(", which take {} us, {} more to each further host and {} ns a KiB",
                           std::lround((network->latency + network->per_peer) * 1e6),
                           std::lround(network->per_peer * 1e6), std::lround(network->per_byte * 1024e9));
    if (auto const slices = part_.spread.combiners.size(); slices != 0)
      text += text::format(", MPI_Iallreduce combines up to {}", count(slices, "slice", "slices"));
  }
  return text;
}

}  // namespace coset::mpi
