// SPDX-License-Identifier: Apache-2.0
#include "team/split/parts.hpp"

#include <algorithm>
#include <new>

#include "runtime/failure/argument_check.hpp"
#include "team/team_state.hpp"

namespace coset::team_room {
namespace {

rank_t number_in_whole(detail::team_state const& part, rank_t rank) {
  return part.part.in_whole[part.shared.part.first + rank];
}

}  // namespace

void parts::add(detail::team_state& made) {
  std::lock_guard const lock(mutex_);
  alive_.push_back(&made);
}

/// A rank of another host may yet ask whether one of this process has taken part before it left.
void parts::remove(detail::team_state& of) noexcept try {
  std::lock_guard const lock(mutex_);
  std::erase(alive_, &of);
  if (of.part.number == 0) return;
  ended told{of.part.number, {}};
  for (rank_t r = 0; r < of.shared.ranks; ++r)
    told.latest.emplace_back(number_in_whole(of, r), runtime::latest_of(of.shared.arena.own(r)));
  ended_.push_back(std::move(told));
  if (ended_.size() > remembered) ended_.pop_front();
} catch (std::bad_alloc const&) {
  // Such a question gets no answer.
}

void parts::offer(rank_t thread, std::uint32_t number, std::shared_ptr<detail::team_state> made, rank_t takers) {
  std::lock_guard const lock(mutex_);
  offers_[{thread, number}] = {std::move(made), takers};
}

std::shared_ptr<detail::team_state> parts::take(rank_t thread, std::uint32_t number) {
  std::lock_guard const lock(mutex_);
  auto const at = offers_.find({thread, number});
  if (--at->second.second != 0) return at->second.first;
  auto last = std::move(at->second.first);
  offers_.erase(at);
  return last;
}

void parts::keep(std::shared_ptr<detail::team_state> const& of) noexcept {
  std::lock_guard const lock(mutex_);
  of->part.kept = of;
}

void parts::begin_round() {
  std::vector<std::shared_ptr<detail::team_state>> let_go;  // outside the lock, which they take
  {
    std::lock_guard const lock(mutex_);
    for (detail::team_state* const each : alive_) {
      if (each->part.kept && !each->part.messages->has_left_behind()) let_go.push_back(std::move(each->part.kept));
    }
    for (auto& [by, offered] : offers_) let_go.push_back(std::move(offered.first));
    offers_.clear();
    ended_.clear();
  }
}

void parts::end() noexcept {
  std::vector<std::shared_ptr<detail::team_state>> let_go;
  {
    std::lock_guard const lock(mutex_);
    for (detail::team_state* const each : alive_) {
      each->shared.marks.generation = 0;
      if (each->part.kept) let_go.push_back(std::move(each->part.kept));
    }
  }
}

void parts::look_up(std::uint32_t number, rank_t in_whole,
                    std::function<void(runtime::own_line const&)> const& while_it_exists,
                    std::function<void(std::uint32_t)> const& after_its_end) const {
  std::lock_guard const lock(mutex_);
  for (detail::team_state const* const each : alive_) {
    if (each->part.number != number) continue;
    for (rank_t r = 0; r < each->shared.ranks; ++r) {
      if (number_in_whole(*each, r) == in_whole) return while_it_exists(each->shared.arena.own(r));
    }
  }
  for (ended const& each : ended_) {
    if (each.number != number) continue;
    for (auto const& [rank, latest] : each.latest) {
      if (rank == in_whole) return after_its_end(latest);
    }
  }
}

}  // namespace coset::team_room
