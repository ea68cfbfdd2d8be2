// SPDX-License-Identifier: Apache-2.0
// Loops by the threads of a team, or by one. All that does not depend on the types of a loop is compiled once, so the module
// stays small.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "bindings/python/updates/scatter.hpp"
#include "coset/updates/arguments.hpp"
#include "coset/updates/crews.hpp"
#include "coset/updates/ways.hpp"

namespace coset::python {

/// Where the ranks of a team meet.
struct meeting {
  member* me;
  void operator()() const;
};
using ranks_crew = detail::threads_crew<meeting>;

void by_all(team& with, std::function<void(ranks_crew&)> const& body);
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
  detail::update_plan const plan = detail::choose(detail::facts_of(loops, &sample, threads), options);
  detail::update_run run(loops, plan, sample, threads);
  if (threads == 1 || plan.by == way::one_thread) {
    run.carry_out_alone();
  } else {
    by_all(*with, [&run](ranks_crew& all) { run.carry_out(all); });
  }
  run.rethrow();
}

}  // namespace coset::python
