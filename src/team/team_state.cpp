// SPDX-License-Identifier: Apache-2.0
#include "team/team_state.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "numa/binding.hpp"
#include "team/gathering.hpp"
#include "team/use_staging.hpp"
#include "team/workers.hpp"
#include "tuning/choice/choose.hpp"

namespace coset::detail {

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
    part.nodes.push_back(team.members[r]->memory_node);
  }
  return part;
}

/// Where other processes' ranks are is not known here. Neither that nor what this process has measured makes a difference
/// to what all have to agree on.
team_shape domain_shape(team_state const& threads, std::vector<rank_t> const& there, bool several_processes) {
  auto const ranks = static_cast<rank_t>(there.size());
  auto shape = several_processes ? team_shape{ranks, {}, node_list(ranks, anywhere)} : part_of(threads, there);
  shape.choices = tuning::table::of_environment();
  return shape;
}

std::vector<rank_t> first_of_each(node_list const& nodes) {
  std::map<unsigned, rank_t> first;
  std::vector<rank_t> leaders;
  for (rank_t r = 0; r < nodes.size(); ++r) leaders.push_back(first.try_emplace(nodes[r], r).first->second);
  return leaders;
}

/// What is decided before any plan is made.
planning::team_facts facts_of(team_state const& team) {
  team_shape const& shape = team.shape;
  return {.ranks = team.part.total,
          .pointers = team.part.messages != nullptr ? team.part.pointers : team.one_process,
          .crowded = team.one_process && team.crowded,
          .levels = tuning::levels_of(shape.places),
          .nodes = tuning::nodes_of(shape.places),
          .node_leaders = team.node_leaders,
          .memory = shape.memory,
          .choices = shape.choices,
          .spread = team.part.spread,
          .most_staging = std::min(team.arena.largest_staging(), team.part.most_staging)};
}

}  // namespace

rank_state::rank_state(team_state& shared, rank_t number_here, rank_state* in_root)
    : team(shared),
      rank(number_here),
      number(shared.part.first + number_here),
      root(in_root != nullptr ? *in_root : *this),
      own(shared.root.arena.own(shared.root_ranks[number_here])),
      told(shared.arena.own(number_here)),
      sleepers(shared.arena.attention(number_here).sleepers),
      history(shared.salt),
      place(*this) {
  if (number_here < shared.shape.places.size()) node = shared.shape.places[number_here].node;
  memory_node = shared.shape.nodes[number_here];
  open_channel(*this, 0);  // by the rank's own thread, on its node
  if (in_root != nullptr) {
    thread = root.thread;
    node = root.node;
  }
  root.family.push_back(this);
}

rank_state::~rank_state() {
  if (&root != this) std::erase(root.family, this);
}

team_state::team_state(team_state* of_whole, team_shape const& s, std::vector<rank_t> there, team_options wanted,
                       numa::memory own_memory, domain of_more)
    : root(of_whole != nullptr ? *of_whole : *this),
      whole(of_whole != nullptr ? root.weak_from_this().lock() : nullptr),
      ranks(s.ranks),
      options(std::move(wanted)),
      shape(s),
      root_ranks(std::move(there)),
      crowded(shape.tasks || ranks > numa::usable_processors() || take_turns(shape) ||
              (shape.pinned && of_whole != nullptr && of_whole->crowded)),
      patience(patience::of(options.wait, crowded || of_more.crowded)),
      one_process(own_memory.size() == 0),
      plain_posts(one_process && sleepers_pay()),
      of_tasks(shape.tasks),
      arena(one_process ? team_room::arena(shape.nodes) : team_room::arena(shape.nodes, std::move(own_memory))),
      members(ranks),
      node_leaders(first_of_each(shape.nodes)),
      part(of_more.total != 0 ? std::move(of_more) : domain{s.ranks}),
      plans(facts_of(*this)),
      own_failure(arena.failure()),
      // Ranks of one process that touch each other's arrays have to hear of each other's failures in all their teams.
      failure(of_whole != nullptr && one_process ? of_whole->own_failure : own_failure) {}

team_state::team_state(team_shape const& s, team_options wanted)
    : team_state(nullptr, s, all_ranks(s.ranks), std::move(wanted), numa::memory()) {}

team_state::team_state(team_shape const& s, team_options wanted, numa::memory own_memory)
    : team_state(nullptr, s, all_ranks(s.ranks), std::move(wanted), std::move(own_memory)) {
  generation = 1;
  settle_generation();
}

team_state::team_state(team_state& of_whole, std::vector<rank_t> const& there)
    : team_state(&of_whole, part_of(of_whole, there), there, of_whole.options, numa::memory()) {
  generation = of_whole.generation;
  settle_generation();
}

team_state::team_state(team_state& threads, domain const& of_more, std::vector<rank_t> const& there,
                       numa::memory own_memory)
    : team_state(&threads, domain_shape(threads, there, own_memory.size() != 0), there, threads.options,
                 std::move(own_memory), of_more) {
  generation = threads.generation;
  settle_generation();
}

team_state::~team_state() = default;

void team_state::settle_generation() noexcept {
  salt = (part.messages != nullptr || !one_process ? shared_round : generation) * 0x9E3779B9u;
}

void team_state::begin_generation() {
  if (++generation == 0) generation = 1;  // 0 means "has left nothing"
  settle_generation();
  failure.clear();
  withdraw_offers();
  forget_operations();
  settle(furthest());
  settle_views();
}

void team_state::begin_shared_round(std::uint32_t round, std::array<channel_position, channels> const& together) {
  shared_round = round;
  settle_generation();
  failure.forget_original();
  forget_operations();
  settle(together);
}

/// Of all teams: what a rank has left under way in a team that was split off must not go on in the next generation.
void team_state::forget_operations() {
  for (auto const& m : members) {
    if (!m) continue;
    for (rank_state* each : m->family) {
      each->requests = {};
      each->started = each->live = 0;
    }
    m->requests = {};
    m->started = m->live = 0;
    m->operations = 0;
    m->history = salt;
    m->described = {};
    m->standstill = {};
    for (auto& begun : m->told.begun) begun.store(0, std::memory_order_relaxed);
    m->told.standing.store(0, std::memory_order_relaxed);
  }
}

/// Ranks make room for a view before they know that they agree on its length.
void team_state::settle_views() {
  std::size_t largest = 0;
  for (auto const& m : members) largest = std::max(largest, m ? m->view_capacity : 0);
  for (auto const& m : members) {
    if (!m || m->view_capacity == largest) continue;
    m->view = arena.view_for(node_leaders[m->rank], largest);
    m->view_capacity = largest;
  }
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
      end.peers_entered = true;
      end.readers = {};
      if (at[c].capacity > end.capacity) use_staging(*m, c, at[c].capacity);
    }
  }
}

void team_state::quiesce(rank_state const& leaver) const noexcept {
  rank_t const self = leaver.root.rank;
  for (rank_t q = 0; q < root.ranks; ++q) {
    if (q == self) continue;
    while (root.arena.own(q).busy.load(std::memory_order_seq_cst) != 0)
      std::this_thread::yield();  // partner: busy_mark
  }
}

/// Sleepers of teams split from this one wake up by themselves: no sleep is longer than patience::longest_sleep.
void team_state::fail(cause why, std::string_view reason, std::exception_ptr original) noexcept {
  failure.record(why, reason, std::move(original));
  for (rank_t q = 0; q < ranks; ++q) {
    if (arena.attention(q).sleepers.load(std::memory_order_seq_cst) == 0) continue;
    for (std::uint32_t c = 0; c < channels; ++c) {
      channel_lines& lines = arena.lines(c, q);
      for (entry_line& line : lines.entry) wake(line.tag, half::high);
      wake(lines.progress.posted, half::low);
    }
  }
}

void team_state::offer(rank_t by, std::shared_ptr<team_state> made) {
  std::lock_guard const lock(offering_);
  offers_[by] = std::move(made);
}

std::shared_ptr<team_state> team_state::offered_by(rank_t rank) const {
  std::lock_guard const lock(offering_);
  return offers_.at(rank);
}

void team_state::withdraw_offers() {
  std::lock_guard const lock(offering_);
  offers_.clear();
}

}  // namespace coset::detail
