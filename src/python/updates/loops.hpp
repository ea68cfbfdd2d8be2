// SPDX-License-Identifier: Apache-2.0
// Loops by the threads of a team, or by one. All that does not depend on the types of a loop is compiled once, so the module
// stays small.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "coset/updates/arguments.hpp"
#include "coset/updates/ways.hpp"
#include "python/updates/scatter.hpp"

namespace coset::python {

/// A crew (coset/updates/ways.hpp) of a team's ranks, or of a lone thread: one type for both.
class any_crew {
 public:
  explicit any_crew() = default;
  any_crew(member& me, std::atomic<std::size_t>& taken);

  std::size_t threads() const noexcept { return threads_; }
  template <class Job>
  void each(std::size_t jobs, Job const& job) {
    for (std::size_t k; (k = next(jobs)) < jobs;) job(k);
    end_phase(jobs);
  }
  template <class Job>
  void each_own(Job const& job) {
    job(rank_);
    end_phase();
  }

 private:
  std::size_t next(std::size_t jobs) noexcept;
  void end_phase(std::size_t jobs);
  void end_phase();

  member* me_ = nullptr;
  std::atomic<std::size_t>* taken_ = nullptr;  ///< jobs of all phases so far; null for a lone thread
  std::size_t threads_ = 1, rank_ = 0;
  std::size_t begin_ = 0;  ///< what stood in taken_ before the phase
  std::size_t alone_ = 0;  ///< jobs that a lone thread has done of the phase
};

/// body(crew) on all ranks, or by the calling thread where `with` is null.
void by_all(team* with, std::function<void(any_crew&)> const& body);
/// job(begin, end) for each rank's share of [0, count).
void share_out(team* with, std::size_t count, std::function<void(std::size_t, std::size_t)> const& job);
std::size_t threads_of(team const* with) noexcept;

/// What an array has, or a single value for all updates, with stride 0.
template <class T>
struct strided_values {
  T const* first;
  std::ptrdiff_t stride;
  T operator()(std::size_t iteration) const noexcept { return first[static_cast<std::ptrdiff_t>(iteration) * stride]; }
};

template <class T, class Op, class Key, class Value>
void update(team* with, std::span<T> target, Op op, Key key, Value value, std::size_t count,
            scatter_options const& options) {
  if (count == 0) return;
  auto const loop = detail::loop_of(detail::update_target<T, Op>{target, op}, std::move(key), std::move(value), count);
  detail::update_loops const loops(loop);
  std::size_t const threads = threads_of(with);
  detail::key_sample const sample = detail::sample_of(loops);
  detail::update_plan const plan = detail::choose(detail::facts_of(loops, sample, threads), options);
  bool const alone = plan.by == way::one_thread;
  detail::update_run run(loops, plan, sample, alone ? 1 : threads);
  by_all(alone ? nullptr : with, [&run](any_crew& all) { run.carry_out(all); });
  run.rethrow();
}

}  // namespace coset::python
