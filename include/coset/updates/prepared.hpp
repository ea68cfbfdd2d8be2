// SPDX-License-Identifier: Apache-2.0
// A loop of updates from what a program has written to what threads carry out.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "coset/updates/arguments.hpp"
#include "coset/updates/crews.hpp"
#include "coset/updates/ways.hpp"

namespace coset::inline COSET_ABI::detail {

/// run(loop) with a loop as a program writes it, unless the compiler has said that it is none. `count`: nothing where keys or
/// values are an array. Throws argument_error.
template <class Target, class Keys, class Values, class Op, class Run, class... Count>
void with_written_loop(Target&& target, Keys const& keys, Values const& values, Op const& op, Run const& run,
                       Count... count) {
  auto const named = named_target(std::forward<Target>(target), op);
  using update_target = decltype(update_target_of(named));
  if constexpr (are_keys<Keys, decltype(mapping_of(named))>() && are_values<Values, update_target>()) {
    using key = element_of<decltype(function_of(keys)), decltype(mapping_of(named))>;
    using loop = update_loop<update_target, key, decltype(values_of<update_target>(values))>;
    run(loop{update_target_of(named), key{function_of(keys), mapping_of(named)}, values_of<update_target>(values),
             count_of(keys, values, count...)});
  }
}

/// What all threads that carry out loops share. One thread makes it.
template <class Loop>
class shared_updates {
 public:
  /// `all` follow each other, and are kept. Throws argument_error, and what keys throw.
  shared_updates(std::vector<Loop> all, std::size_t threads, scatter_options const& options)
      : loops_(std::move(all)),
        sample_(sample_of(all_loops())),
        plan_(choose(facts_of(all_loops(), &sample_, threads), options)),
        run_(all_loops(), plan_, sample_, threads) {}
  shared_updates(shared_updates const&) = delete;
  shared_updates& operator=(shared_updates const&) = delete;

  /// Whether other threads are of no use.
  bool is_for_one() const noexcept { return plan_.by == way::one_thread; }
  void carry_out_alone() { run_.carry_out_alone(); }
  /// By all threads of a crew of tasks, as the one that stands for all.
  template <crew Crew>
  void carry_out(Crew all) {
    run_.carry_out(all);
  }
  /// By thread `number` of those present.
  template <class Barrier>
  void carry_out(std::size_t number, std::size_t present, std::size_t planned, Barrier const& barrier) {
    threads_crew<Barrier> crew(taken_, number, present, planned, barrier);
    run_.carry_out(crew);
  }
  bool has_thrown() const noexcept { return run_.has_thrown(); }
  void rethrow() const { run_.rethrow(); }

 private:
  update_loops<Loop> all_loops() const { return update_loops<Loop>(std::span<Loop const>(loops_)); }

  std::vector<Loop> const loops_;
  key_sample const sample_;
  update_plan const plan_;
  update_run<Loop> run_;
  std::atomic<std::size_t> taken_ = 0;
};

/// For a call by one thread that may call others: `by(shared, threads)` lets them carry it out.
template <class Loop, class By>
void carry_out(Loop loop, std::size_t threads, scatter_options const& options, By const& by) {
  if (loop.count == 0) return;
  if (options.by == way::chosen &&
      (threads == 1 || is_too_little_to_share(facts_of(update_loops<Loop>(loop), nullptr, threads))))
    return carry_out_plainly(loop, 0, loop.count);
  shared_updates<Loop> shared({std::move(loop)}, threads, options);
  if (shared.is_for_one() || threads == 1) {
    shared.carry_out_alone();
  } else {
    by(shared, threads);
  }
  shared.rethrow();
}

}  // namespace coset::detail
