// SPDX-License-Identifier: Apache-2.0
#include "team/team_state.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <set>

#include "numa/binding.hpp"
#include "planning/choice/choose.hpp"
#include "runtime/memory/use_staging.hpp"
#include "runtime/trace/process.hpp"
#include "team/threads/adopted_threads.hpp"
#include "team/threads/lent_threads.hpp"
#include "team/threads/workers.hpp"

namespace coset::inline COSET_ABI::detail {

using namespace runtime;
using namespace team_room;

namespace {

std::vector<rank_t> all_ranks(rank_t ranks) {
  std::vector<rank_t> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Ranks that are pinned to the same processor, whatever else this process could use.
bool take_turns(team_shape const& shape) {
  std::set<unsigned> processors;
  return shape.pinned &&
         !std::ranges::all_of(shape.places, [&](processor const& p) { return processors.insert(p.os_index).second; });
}

/// Adopted ranks have told by now which nodes they are on.
team_shape part_of(team_state const& team, std::vector<rank_t> const& ranks) {
  team_shape const& whole = team.shape;
  // The order of ranks may be another than that of the clusters.
  team_shape part{static_cast<rank_t>(ranks.size()), {}, {}, whole.pinned, whole.memory,
                  whole.choices.without_clusters()};
  for (rank_t r : ranks) {
    if (!whole.places.empty()) part.places.push_back(whole.places[r]);
    part.nodes.push_back(team.members[r]->here.memory_node);
  }
  return part;
}

/// Where other processes' ranks are is not known here. Neither that nor what this process has measured makes a
/// difference to what all have to agree on.
team_shape domain_shape(team_state const& threads, std::vector<rank_t> const& there, bool several_processes) {
  auto const ranks = static_cast<rank_t>(there.size());
  auto shape = several_processes ? team_shape{ranks, {}, node_list(ranks, anywhere)} : part_of(threads, there);
  shape.choices = choice::table::of_environment();
  return shape;
}

/// Ranks that are processes of their own.
domain each_alone(rank_t ranks) {
  domain all{ranks};
  for (rank_t r = 0; r < ranks; ++r) all.spread.processes.push_back({r, 1});
  return all;
}

/// Of each node of each process.
std::vector<rank_t> first_of_each(node_list const& nodes, domain const& of) {
  std::map<std::pair<rank_t, unsigned>, rank_t> first;
  std::vector<rank_t> const processes = of.spread.leaders(static_cast<rank_t>(nodes.size()));
  std::vector<rank_t> leaders;
  for (rank_t r = 0; r < nodes.size(); ++r)
    leaders.push_back(first.try_emplace({processes[r], nodes[r]}, r).first->second);
  return leaders;
}

/// Of several processes each may be bound to processors of its own: how many this one has says nothing then, and whether ranks
/// take turns is in what all have agreed on.
capabilities kind_of(team_shape const& shape, unsigned processors, team_state const* root, bool one_process,
                     bool has_messages) {
  bool const whole_takes_turns = shape.pinned && root != nullptr && root->shared.kind.crowded;
  return {.one_process = one_process,
          .has_messages = has_messages,
          .ranks_may_wait = !shape.tasks,
          .crowded = shape.tasks || (one_process && shape.ranks > processors) || take_turns(shape) || whole_takes_turns,
          .plain_signals = one_process && sleepers_pay()};
}

/// Times of ranks that take turns say more of the turns than of plans.
choice::adaptation adaptation_of(capabilities const& kind) {
  auto const wanted = choice::wanted_adaptation();
  bool const can_learn = kind.one_memory() && kind.ranks_may_wait && numa::ticks_are_allowed();
  bool const is_of_use = !kind.crowded || wanted == choice::adaptation::flipping;
  return can_learn && is_of_use ? wanted : choice::adaptation::off;
}

/// Of several processes, only what all of them know alike, and which they use for segments alone: where ranks take turns,
/// every meeting is a turn, and there shall be none.
calibration::memory_facts memory_of(domain const& part) {
  return {.own_cache_bytes = part.crowded ? 0 : part.own_cache_bytes};
}

/// Of one process, with what `coset tune` has found.
calibration::memory_facts memory_here(team_shape const& shape) {
  auto memory = shape.memory;
  memory.costs = shape.choices.costs();
  return memory;
}

/// What is decided before any plan is made.
planning::team_facts facts_of(team_state const& team) {
  computing_in const alike_everywhere(floating_point_mode::usual(), arithmetic::floating_point);
  team_shape const& shape = team.shape;
  shared_memory const& shared = team.shared;
  return {.ranks = shared.part.total,
          .pointers = shared.kind.has_messages ? shared.part.pointers : shared.kind.one_process,
          .crowded = shared.kind.one_process && shared.kind.crowded,
          .levels = choice::level_facts_of(shape.places),
          .node_leaders = team.node_leaders,
          .memory = shared.kind.one_process ? memory_here(shape) : memory_of(shared.part),
          .adapts = adaptation_of(shared.kind),
          .choices = shape.choices,
          .spread = shared.part.spread,
          .most_staging = std::min(shared.arena.largest_staging(), shared.part.most_staging)};
}

/// What joins each rank to this one, for a trace.
std::vector<trace::level> levels_from(team_shape const& shape, rank_t rank) {
  using trace::level;
  std::vector<level> levels(shape.ranks, level::unknown_place);
  if (shape.places.empty()) return levels;
  processor const& here = shape.places[rank];
  std::ranges::transform(shape.places, levels.begin(), [&](processor const& there) {
    return there.node != here.node ? level::host : there.l3 != here.l3 ? level::node : level::cache;
  });
  return levels;
}

}  // namespace

runtime::descent team_state::descent::of_memory() const {
  return {root != nullptr ? &root->shared : nullptr, origin != nullptr ? &origin->shared : nullptr, in_root, in_origin};
}

team_state::team_state(descent of, team_shape const& s, team_options wanted, numa::memory&& own_memory, domain of_more,
                       team_room::part_identity identity)
    : root(of.root != nullptr ? *of.root : *this),
      whole(of.origin != nullptr ? of.origin->weak_from_this().lock()
            : of.root != nullptr ? of.root->weak_from_this().lock()
                                 : nullptr),
      options(std::move(wanted)),
      shape(s),
      processors(of.root != nullptr ? root.processors : numa::usable_processors()),
      node_leaders(first_of_each(shape.nodes, of_more)),
      shared(of.of_memory(), kind_of(shape, processors, of.root, own_memory.size() == 0, of_more.messages != nullptr),
             options.wait, shape.nodes, std::move(own_memory), of_more.total != 0 ? of_more : domain{shape.ranks},
             options.memory),
      plans(facts_of(*this)),
      part(std::move(identity)),
      members(shape.ranks) {
  part.origin = of.origin;
  shared.patience.limits = of.origin != nullptr ? of.origin->shared.patience.limits
                           : of.root != nullptr ? of.root->shared.patience.limits
                                                : choice::wanted_wait_limits();
}

team_state::team_state(team_shape const& s, team_options wanted)
    : team_state({nullptr, nullptr, all_ranks(s.ranks)}, s, std::move(wanted), numa::memory()) {}

team_state::team_state(team_shape const& s, team_options wanted, numa::memory own_memory)
    : team_state({nullptr, nullptr, all_ranks(s.ranks)}, s, std::move(wanted), std::move(own_memory),
                 each_alone(s.ranks)) {
  shared.begin_generation(1);
}

team_state::team_state(team_state& split_from, std::vector<rank_t> const& there)
    : team_state({&split_from.root, &split_from.origin(), there}, part_of(split_from.root, there),
                 split_from.root.options, numa::memory()) {
  shared.begin_generation(root.shared.marks.generation);
  if (auto const& of_origin = origin().membership.parts) of_origin->add(*this);
}

team_state::team_state(team_state& split_from, domain const& of_more, std::vector<rank_t> const& there,
                       std::vector<rank_t> in_origin, numa::memory own_memory, team_room::part_identity identity)
    : team_state({&split_from.root, &split_from.origin(), there, std::move(in_origin)},
                 domain_shape(split_from.root, there, own_memory.size() != 0), split_from.root.options,
                 std::move(own_memory), of_more, std::move(identity)) {
  shared.marks.shared_round = static_cast<std::uint32_t>(
      planning::mixed(origin().shared.marks.shared_round, part.number));  // the same on all its processes
  shared.begin_generation(root.shared.marks.generation);
  // Parts of all colours have the same number; their first ranks differ.
  if (shared.marks.team != 0)
    trace::name_part(shared.marks.team, origin().shared.marks.team,
                     planning::mixed(shared.marks.shared_round, part.in_whole.front()));
  origin().membership.parts->add(*this);
}

team_state::team_state(team_state& threads, domain const& of_more, std::vector<rank_t> const& there,
                       numa::memory own_memory)
    : team_state({&threads, nullptr, there}, domain_shape(threads, there, own_memory.size() != 0), threads.options,
                 std::move(own_memory), of_more) {
  shared.begin_generation(threads.shared.marks.generation);
}

team_state::~team_state() {
  if (part.origin != nullptr && part.origin->membership.parts) part.origin->membership.parts->remove(*this);
}

rank_state& team_state::make_rank(rank_t rank, rank_state* in_root) {
  unsigned const node = rank < shape.places.size() ? shape.places[rank].node : member::unknown_node;
  members[rank] = std::make_unique<rank_state>(*this, plans, shared, rank, node, shape.nodes[rank], in_root);
  members[rank]->here.beside = &members;
  if (auto* const recorded = members[rank]->memory.recorded.get()) {
    recorded->levels = levels_from(shape, rank);
    if (!part.in_whole.empty()) recorded->in_origin = part.in_whole;
  }
  return *members[rank];
}

void team_state::begin_generation() {
  std::uint32_t const next = shared.marks.generation + 1;
  shared.begin_generation(next != 0 ? next : 1);  // 0 means "has left nothing"
  if (shared.failure.recorded()) ++shared.marks.failures;
  shared.failure.clear();
  membership.offers.withdraw();
  forget_operations();
  settle(furthest());
  settle_views();
}

void team_state::begin_another_life() noexcept {
  for (auto const& m : members) m->requests.handle.begin_another_life();
  shared.arena.failure().stuck_told.store(0, std::memory_order_relaxed);
  reserved_bytes = 0;
  forget_operations();
}

void team_state::begin_shared_round(std::uint32_t round, std::array<channel_position, channels> const& together) {
  shared.begin_shared_round(round);
  shared.failure.forget_original();
  forget_operations();
  settle(together);
  settle_views();
}

/// Of all teams: what a rank has left under way in a team that was split off must not go on in the next generation. A
/// root is of its own family, and a domain's ranks are of their threads', whose generation begins, too.
void team_state::forget_operations() {
  for (auto const& m : members) {
    if (!m) continue;
    for (rank_state* each : m->requests.family) each->requests.forget();
    m->acts = {};
    m->acts.history = shared.marks.salt;
    for (auto& begun : m->lines.told.begun) begun.store(0, std::memory_order_relaxed);
    m->lines.told.standing.store(0, std::memory_order_relaxed);
    m->lines.told.wait.since.store(0, std::memory_order_relaxed);
  }
}

/// Ranks make room for a view before they know that they agree on its length.
void team_state::settle_views() {
  using runtime::arena;
  auto const settle = [&](runtime::result_view runtime::rank_memory::*which, arena::readers who) {
    std::size_t largest = 0;
    for (auto const& m : members) largest = std::max(largest, m ? (m->memory.*which).capacity : 0);
    for (auto const& m : members) {
      if (!m || (m->memory.*which).capacity == largest) continue;
      rank_t const of = who == arena::readers::node ? node_leaders[m->rank] : m->rank;
      m->memory.*which = {shared.arena.view_for(of, who, largest), largest};
    }
  };
  settle(&runtime::rank_memory::shared_view, arena::readers::node);
  settle(&runtime::rank_memory::own_view, arena::readers::rank);
}

std::array<channel_position, channels> team_state::furthest() const {
  std::array<channel_position, channels> at{};
  for (auto const& m : members) {
    if (!m) continue;
    for (std::uint32_t c = 0; c < channels; ++c) at[c] = further(at[c], m->ends[c].position());
  }
  at[0].capacity = std::max(at[0].capacity, reserved_bytes);
  return at;
}

void team_state::settle(std::array<channel_position, channels> const& at) {
  for (auto const& m : members) {
    if (!m) continue;
    for (std::uint32_t c = 0; c < channels; ++c) {
      channel_end& end = m->ends[c];
      end.epoch = at[c].epoch;
      end.base = at[c].base;
      end.exchanged = at[c].exchanged;
      end.peers_entered = true;
      end.readers = {};
      if (at[c].capacity > end.capacity) use_staging(*m, c, at[c].capacity);
    }
  }
}

}  // namespace coset::detail

namespace coset::team_room {

void keep_for_good(std::shared_ptr<detail::team_state> state) noexcept try {
  static constinit numa::fork_safe_mutex keeping;
  static auto* const kept = new std::vector<std::shared_ptr<detail::team_state>>;  // reachable when the process ends
  std::lock_guard const lock(keeping);
  kept->push_back(state);
} catch (std::bad_alloc const&) {
  static_cast<void>(new (std::nothrow) std::shared_ptr<detail::team_state>(std::move(state)));
}

membership::membership() = default;
membership::~membership() = default;

void split_offers::offer(rank_t by, std::shared_ptr<detail::team_state> made) {
  std::lock_guard const lock(offering_);
  offers_[by] = std::move(made);
}

std::shared_ptr<detail::team_state> split_offers::offered_by(rank_t rank) const {
  std::lock_guard const lock(offering_);
  return offers_.at(rank);
}

void split_offers::withdraw() {
  std::lock_guard const lock(offering_);
  offers_.clear();
}

}  // namespace coset::team_room
