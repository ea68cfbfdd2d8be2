// SPDX-License-Identifier: Apache-2.0
#include "team/threads/adopted_threads.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>

#include "base/text/format.hpp"
#include "numa/affinity.hpp"
#include "numa/mask.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/failure/failure.hpp"

namespace coset::team_room {

adopted_threads::adopted_threads(detail::team_state& team)
    : team_(team), machine_(topology::whole_machine()), taken_(team.shared.ranks, false) {}

/// An adopted rank is where it runs: its node is known if every processor of its mask lies on the same one. Its lines
/// exist already; what staging is made from now on will be on that node.
void adopted_threads::settle(rank_t rank) {
  detail::rank_state& state = team_.members[rank] ? *team_.members[rank] : team_.make_rank(rank);
  state.here.thread = std::this_thread::get_id();
  state.here.node = machine_.nodes.size() == 1 ? 0 : member::unknown_node;
  state.here.memory_node = anywhere;
  if (machine_.nodes.size() <= 1 && machine_.memories.size() <= 1) return;
  settle_on_node(state);
  team_.shared.arena.settle(rank, state.here.memory_node);
}

void adopted_threads::settle_on_node(detail::rank_state& state) const {
  if (!machine_.this_system) return;
  auto const mask = numa::mask::of_thread(0);
  std::optional<unsigned> node;
  for (processor const& p : machine_.processors) {
    if (!mask.contains(p.os_index)) continue;
    if (node && *node != p.node) return;
    node = p.node;
  }
  if (!node) return;
  state.here.node = *node;
  state.here.memory_node = machine_.nodes[*node].os_index;
}

bool has_threads_of_region(rank_t ranks) {
  auto const threads = numa::threads_of_openmp_region();
  return !threads || *threads >= ranks;
}

void require_threads_of_region(rank_t ranks) {
  auto const threads = numa::threads_of_openmp_region();
  if (threads && *threads < ranks)
    throw argument_error(text::format(
        "join: this OpenMP region has {} of the {} threads of the team; adopt omp_get_num_threads() of the region "
        "itself, or use coset::omp::member_here",
        *threads, ranks));
}

void adopted_threads::throw_refusal(rank_t rank) const {
  using runtime::words;
  words const why(
      "join: of rank %u's team a thread cannot have the memory that this needs; its process is limited to %llu bytes",
      rank, static_cast<unsigned long long>(runtime::memory_limit()));
  throw out_of_memory(std::string_view(why).data());
}

detail::rank_state& adopted_threads::join(rank_t rank, team::clock::time_point deadline) {
  if (rank >= team_.shared.ranks) {
    throw argument_error(text::format("join: there is no rank {} in a team of {}", rank, team_.shared.ranks));
  }
  require_threads_of_region(team_.shared.ranks);
  std::unique_lock lock(mutex_);
  if (lent_) throw argument_error("join: the threads are ranks of a team over processes; adopt another team of them");
  if (!changed_.wait_until(lock, deadline, [&] { return open_ && !taken_[rank]; })) {
    throw timed_out(text::format("join: rank {} is still taken", rank));
  }
  if (refused_) throw_refusal(rank);
  std::uint64_t const round = round_;
  try {
    settle(rank);
    if (present_ + 1 == team_.shared.ranks) team_.begin_generation();
  } catch (std::bad_alloc const&) {
    refused_ = present_ != 0;
    changed_.notify_all();
    throw_refusal(rank);
  }
  taken_[rank] = true;
  came_ = ++present_ == 1 ? 1 : std::max(came_, present_);
  if (present_ == team_.shared.ranks) {
    open_ = false;
    ++round_;
    changed_.notify_all();
    return *team_.members[rank];
  }
  changed_.wait_until(lock, deadline, [&] { return round_ != round || refused_; });
  if (round_ == round) {
    bool const refused = refused_;
    taken_[rank] = false;
    if (--present_ == 0) refused_ = false;
    changed_.notify_all();
    if (refused) throw_refusal(rank);
    throw timed_out(text::format("join: rank {} found only {} of {} threads", rank, came_, team_.shared.ranks));
  }
  return *team_.members[rank];
}

bool adopted_threads::is_attended() const {
  std::lock_guard const lock(mutex_);
  return present_ != 0;
}

/// Ranks are made here, as a larger team wants them before their threads come.
void adopted_threads::lend() {
  std::lock_guard const lock(mutex_);
  if (lent_) throw argument_error("the threads of this adopted team are ranks of another team over processes");
  if (present_ != 0) throw argument_error("threads are in this adopted team: they have to leave it first");
  for (rank_t r = 0; r < team_.shared.ranks; ++r) {
    if (!team_.members[r]) team_.make_rank(r);
  }
  lent_ = true;
}

void adopted_threads::give_back() noexcept {
  std::lock_guard const lock(mutex_);
  lent_ = false;
}

void adopted_threads::leave(rank_t rank) noexcept {
  std::lock_guard const lock(mutex_);
  // Partner: the acquire load of whoever waits for this rank in vain.
  team_.shared.left(rank).store(team_.shared.marks.generation, std::memory_order_release);
  taken_[rank] = false;
  if (--present_ == 0) open_ = true;
  changed_.notify_all();
}

}  // namespace coset::team_room
