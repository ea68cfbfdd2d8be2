// SPDX-License-Identifier: Apache-2.0
// How processes make a team: what each does for itself, and where all agree that each has done it. A process that has no memory
// for its part throws only where all others hear of it and throw, too.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "base/environment/variables.hpp"
#include "base/text/format.hpp"
#include "mpi/clocks.hpp"
#include "mpi/joint.hpp"
#include "numa/binding.hpp"
#include "numa/quota.hpp"
#include "runtime/trace/process.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

using runtime::floating_point_mode;
using runtime::words;

/// More lanes than this send no faster; each is a communicator.
constexpr rank_t most_lanes = 8;

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

/// Every process throws the same, but for a process that cannot take part, which throws its own exception before.
void require_one_team(record const& everywhere) {
  if (everywhere.unwell != nobody)
    fail(words("process %d cannot take part: %s", everywhere.unwell, everywhere.reason.data()));
  if (!everywhere.wishes.is_one())
    fail(words("%s",
               "the processes have other options, or other plans in their environment: COSET_ALLREDUCE and the like"));
  if (!everywhere.threads.kind.is_one())
    fail(words("%s", "some processes have adopted threads, which join(), and some have threads that run()"));
}

/// Processors by their numbers; those beyond the last bit begin again with the first.
using processor_bits = std::array<std::uint64_t, 64>;

/// What this process may use: the processors of its masks, and how many of them its control group grants. Without memory to ask, all.
std::pair<processor_bits, double> processors_here() noexcept {
  processor_bits bits{};
  try {
    numa::mask const here = numa::processors_of_all_threads();
    for (unsigned at = 0, left = here.count(); left > 0; ++at) {
      if (!here.contains(at)) continue;
      --left;
      bits[at / 64 % bits.size()] |= std::uint64_t{1} << at % 64;
    }
    return {bits, std::ceil(numa::recent_processor_quota().value_or(std::numeric_limits<double>::max()))};
  } catch (std::bad_alloc const&) {
    bits.fill(~std::uint64_t{0});
    return {bits, std::numeric_limits<double>::max()};
  }
}

/// Whether so many threads of a host's processes have to take turns. A launcher may have bound each process to processors of its
/// own, so how many one of them has says nothing; nor does how many the machine has, where the processes may not use all.
bool take_turns(communicator const& host, rank_t threads) {
  auto const [own, granted] = processors_here();
  unsigned together = 0;
  for (std::uint64_t const bits : reduce_over_all(host, own, MPI_UINT64_T, MPI_BOR))
    together += static_cast<unsigned>(std::popcount(bits));
  return threads > together || threads > granted;
}

}  // namespace

char const* name_of_level(int level) {
  return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "MPI_THREAD_MULTIPLE";
}

std::unique_ptr<team::state> team::state::founded(MPI_Comm of, coset::team& threads, options const& wanted) try {
  int const level = level_for(of);
  std::shared_ptr<pool> const from = pool::of(of, attention_to_others());
  int const self = from->founders().rank();
  std::unique_ptr<state> made;
  record own(occasion::constructing);
  pool::facts mine{};
  std::exception_ptr thrown;
  try {
    made.reset(new state(from, threads, wanted, level));
    mine = made->introduce(own);
  } catch (std::exception const&) {
    thrown = std::current_exception();
    own.unwell = self;
    own.say(said_by(thrown));
  }
  record const everywhere = from->meet_founders(own, mine, attention_to_others());
  if (thrown) rethrow(thrown, words("process %d cannot take part: no memory", self));
  require_one_team(everywhere);
  made->found(mine, everywhere);
  return made;
} catch (std::bad_alloc const&) {
  throw out_of_memory("no memory to make a team over processes");
}

team::state::state(std::shared_ptr<pool> from, coset::team& threads, options const& wanted, int level)
    : threads_(threads), wanted_(wanted), level_(level), pool_(std::move(from)), self_(pool_->founders().rank()) {}

/// Before the processes meet.
pool::facts team::state::introduce(record& own) {
  auto* const adopted = threads_.state().membership.adopted.get();
  if (adopted != nullptr) borrowed_.take(*adopted);
  rank_t const threads = threads_.size();
  if (threads > 1 && level_ < MPI_THREAD_FUNNELED)
    throw error(text::format("{} threads under {}: MPI_Init_thread has to ask for MPI_THREAD_FUNNELED at least",
                             threads, name_of_level(level_)));
  bool const crowded = threads > threads_.state().processors;
  pool::facts const mine{{threads, lanes_of(threads, level_, wanted_), crowded}, hash_of_wishes(wanted_)};
  own.wishes = record::range(mine.wishes);
  own.threads.kind = record::range(adopted != nullptr);
  own.latest_round = latest_round();
  own.all_record = trace::is_on();
  if (self_ == 0) own.threads.mode = floating_point_mode::of_this_thread().in_common();
  return mine;
}

/// Collective. Where all is known of earlier teams, the processes agree twice after they have met: when each has settled in
/// what the team uses, and when each has its ranks.
void team::state::found(pool::facts const& mine, record const& everywhere) {
  mode_ = floating_point_mode::from_common(everywhere.threads.mode);
  round_ = everywhere.latest_round + 1;
  note_round(round_);
  pool::survey const& known = get_to_know(mine, everywhere);
  survey_ = known.number;
  if (trace::is_on()) identify_process(pool_->founders());
  if (everywhere.all_record) align_clocks(pool_->founders());
  connections_ = pool_->take(everywhere, known);
  bool const is_alone = known.found.processes.size() == 1;
  bool const has_window = connections_->survey == survey_;
  if (!is_alone) {
    take_seat(known.found);
    if (!has_window) share_memory(known.found);
  }
  all_or_none(
      pool_->founders(), [&] { settle(known.found, has_window); }, "cannot settle in its team");
  if (!is_alone) {
    look_at_network();
    messages_->open_offload();
  }
  all_or_none(
      pool_->founders(), [&] { make_ranks(); }, "cannot make its ranks");
  if (lent() != nullptr) begin();
  enter();
}

/// Whoever reads a tree reads it again.
pool::survey const& team::state::get_to_know(pool::facts const& mine, record const& everywhere) {
  if (auto const* const known = pool_->survey_of(everywhere); known != nullptr && wanted_.tree.empty()) return *known;
  rank_t const all_on_host = reduce_over_all(pool_->host(), mine.part.threads, MPI_UINT32_T, MPI_SUM);
  own_part part = mine.part;
  part.crowded |= take_turns(pool_->host(), all_on_host);
  return pool_->note_survey(mine, survey(pool_->founders(), pool_->host(), part, wanted_.tree));
}

/// Those of a team with fewer lanes, or fewer threads, do not serve one with more.
void team::state::take_seat(process_map const& found) {
  rank_t const lanes = std::ranges::max(found.processes, {}, &process::lanes).lanes;
  rank_t const threads = std::ranges::max(found.processes, {}, &process::threads).threads;
  seat& own = connections_->lanes;
  if (own.of == nullptr || !own.of->serve(lanes, threads)) own = pool_->seat_among(lanes, threads);
}

/// By this process alone, of what all have in common: nothing that others would have to do at the same time.
void team::state::settle(process_map const& found, bool has_window) {
  map_ = found;
  mine_ = map_.of_process(self_);
  if (map_.processes.size() == 1) {
    part_ = {.total = map_.ranks};
    return;
  }
  messages_.emplace(*connections_, map_, wanted_.deadline, round_, level_ == MPI_THREAD_MULTIPLE);
  settle_in_memory(has_window);
  set_up_offload();
  part_.messages = &*messages_;
}

/// A team of this process's own threads alone needs no others, unless they are adopted ones, which join().
void team::state::make_ranks() {
  bool const is_lent = threads_.state().membership.adopted != nullptr;
  bool const all_here = !messages_;
  if (!all_here || is_lent) {
    part_.mode = mode_;
    rank_t const first = all_here ? 0 : part_.first;
    rank_t const last = all_here ? map_.ranks : part_.spread.domains[part_.spread.own + 1];
    ranks_.emplace(threads_.state(), part_, last - first, mine_.first - first,
                   last - first > mine_.threads ? connections_->shared.memory() : numa::memory());
    if (std::uint32_t const number = ranks_->state().shared.marks.team; number != 0 && messages_)
      trace::name_joint_team(number, agreed_name(pool_->founders(), round_));
  }
  if (is_lent) lend_threads();
  description_ = describe();
}

/// The adopted threads' first round begins when their team does, and lasts as long as nothing fails. A rank that sends nothing
/// cannot tell other processes of a failure.
void team::state::lend_threads() {
  ranks_->lend_threads([this](rank_t thread) {
    bool const may_send = level_ == MPI_THREAD_MULTIPLE || thread == 0;
    if (messages_ && may_send && !is_finalized()) messages_->tell(ranks_->state(), "a rank ended with an exception");
  });
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
