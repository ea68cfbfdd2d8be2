// SPDX-License-Identifier: Apache-2.0
#include "team/threads/lent_threads.hpp"

#include <thread>
#include <utility>

#include "base/text/format.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "team/threads/adopted_threads.hpp"

namespace coset::team_room {
namespace {

/// Ranks of other processes would wait for threads that this region has not.
[[noreturn, gnu::cold]] void refuse_region(detail::rank_state& mine, rank_t threads) {
  std::string why;
  try {
    require_threads_of_region(threads);
  } catch (argument_error const& wrong) {
    why = wrong.what();
  }
  detail::refuse(mine, why);
}

struct leaving {
  lent_threads& of;
  detail::rank_state& rank;
  ~leaving() { of.leave(rank); }
};

}  // namespace

lent_threads::lent_threads(detail::team_state& larger, rank_t here, rank_t threads, std::function<void(rank_t)> failed)
    : larger_(larger),
      here_(here),
      threads_(threads),
      seats_(std::make_unique<seat[]>(threads)),
      failed_(std::move(failed)) {}

detail::rank_state& lent_threads::join(rank_t thread) {
  if (thread >= threads_)
    throw argument_error(text::format("join: there is no thread {} in a team of {}", thread, threads_));
  // Partner: leave(), for what the rank has left; and close(): either this is seen there, or that is seen here.
  if (seats_[thread].taken.exchange(true, std::memory_order_seq_cst))
    throw argument_error(text::format("join: thread {} is in the team already", thread));
  runtime::tell_acquire(&seats_[thread].taken);
  while (closed_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  detail::rank_state& mine = *larger_.members[here_ + thread];
  for (detail::rank_state* const each : mine.root.requests.family) each->here.thread = std::this_thread::get_id();
  runtime::shared_memory const& shared = larger_.shared;
  if (!shared.failed() && has_threads_of_region(threads_)) [[likely]]
    return mine;
  leaving const when_thrown{*this, mine};  // nobody clears the failure before
  if (shared.failed()) (shared.failure.recorded() ? shared.failure : shared.root.failure).raise();
  refuse_region(mine, threads_);
}

detail::rank_state* lent_threads::joined(rank_t thread) const noexcept {
  if (thread >= threads_ || !seats_[thread].taken.load(std::memory_order_relaxed)) return nullptr;
  detail::rank_state& rank = *larger_.members[here_ + thread];  // this thread's own, or somebody else's for good
  return rank.here.thread == std::this_thread::get_id() ? &rank : nullptr;
}

void lent_threads::leave(detail::rank_state& mine) noexcept {
  rank_t const thread = mine.rank - here_;
  if (larger_.shared.failed()) failed_(thread);
  runtime::tell_release(&seats_[thread].taken);
  seats_[thread].taken.store(false, std::memory_order_release);
}

bool lent_threads::close() noexcept {
  if (closed_.exchange(true, std::memory_order_seq_cst)) return false;
  for (rank_t t = 0; t < threads_; ++t) {
    if (!seats_[t].taken.load(std::memory_order_seq_cst)) continue;
    open();
    return false;
  }
  return true;
}

}  // namespace coset::team_room
