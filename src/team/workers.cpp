// SPDX-License-Identifier: Apache-2.0
#include "team/workers.hpp"

#include <fmt/format.h>

#include <optional>
#include <system_error>

#include "numa/binding.hpp"
#include "team/failure.hpp"
#include "team/requests.hpp"

namespace coset::team_room {
namespace {

patience idle_patience(patience p) {
  p.sleeps = true;
  p.spins = p.spins > 50 ? 2000 : p.spins;
  p.yields = 20;
  p.longest_sleep = std::chrono::milliseconds(100);
  return p;
}

}  // namespace

void workers::signal::add_one() noexcept {
  word.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0) wake(word, half::low);
}

void workers::signal::wait_for(std::uint64_t value, patience const& p) noexcept {
  wait_until(
      word, half::low, sleepers, p, [value](std::uint64_t now) { return now >= value; }, [](std::uint32_t) {});
}

workers::workers(detail::team_state& team) : team_(team), idle_(idle_patience(team.patience)) {
  team_.members[0] = std::make_unique<detail::rank_state>(team_, 0, nullptr);
  start_threads();
  done_.wait_for(threads_.size(), idle_);
  if (escaped_) {
    stop();
    std::rethrow_exception(escaped_);
  }
}

workers::~workers() { stop(); }

void workers::start_threads() {
  rank_t r = 1;
  try {
    for (; r < team_.ranks; ++r) threads_.emplace_back([this, r] { work(r); });
  } catch (std::system_error const& e) {
    stop();
    throw topology_error(
        fmt::format("rank {} of a team of {}: the system starts no more threads ({}); raise its limit "
                    "(ulimit -u, or pids.max of the cgroup) or make a team of at most {} ranks",
                    r, team_.ranks, e.code().message(), r));
  } catch (...) {
    stop();
    throw;
  }
}

void workers::pin(rank_t rank) const try {
  if (team_.shape.pinned) numa::bind_this_thread(team_.shape.places[rank].os_index);
} catch (topology_error const& e) {
  throw topology_error(fmt::format("rank {} of a team of {}: {}", rank, team_.ranks, e.what()));
}

void workers::stop() noexcept {
  stopping_ = true;
  jobs_.add_one();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

void workers::settle(rank_t rank) {
  pin(rank);
  team_.members[rank] = std::make_unique<detail::rank_state>(team_, rank, nullptr);
}

void workers::work(rank_t rank) {
  try {
    settle(rank);
  } catch (...) {
    std::lock_guard const lock(failing_);
    if (!escaped_) escaped_ = std::current_exception();
  }
  done_.add_one();
  for (std::uint64_t job = 1;; ++job) {
    jobs_.wait_for(job, idle_);
    if (stopping_) return;
    execute(rank);
    done_.add_one();
  }
}

void workers::execute(rank_t rank) noexcept {
  detail::rank_state& state = *team_.members[rank];
  state.thread = std::this_thread::get_id();
  try {
    member me(state);
    body_(context_, me);
  } catch (...) {
    std::exception_ptr const thrown = std::current_exception();
    team_.fail(cause::aborted, fmt::format("rank {} left by an exception: {}", rank, what_of(thrown)), thrown);
    team_.quiesce(state);
    std::lock_guard const lock(failing_);
    if (!escaped_) escaped_ = thrown;
  }
  abandon_requests(state);
  // Partner: the acquire load of whoever waits for this rank in vain.
  team_.left(rank).store(team_.generation, std::memory_order_release);
}

void workers::run(body what, void* context) {
  if (running_.exchange(true))
    throw argument_error("run() inside run(), or by two threads at once: a team runs one body at a time");
  std::optional<numa::saved_mask> mask;
  try {
    team_.begin_generation();
    if (team_.shape.pinned) {
      mask.emplace();
      pin(0);
    }
  } catch (...) {
    running_ = false;
    throw;
  }
  escaped_ = nullptr;
  body_ = what;
  context_ = context;
  ++runs_;
  jobs_.add_one();
  execute(0);
  done_.wait_for((runs_ + 1) * (team_.ranks - 1), team_.patience);
  mask.reset();
  std::exception_ptr thrown = escaped_;
  if (thrown && team_.failure.original()) thrown = team_.failure.original();
  running_ = false;
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace coset::team_room
