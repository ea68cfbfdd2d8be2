// SPDX-License-Identifier: Apache-2.0
// oneTBB with exactly our processors: an arena whose threads are pinned, driven by one thread of our own.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "command/measure/machine/parking.hpp"
#include "numa/binding.hpp"

namespace coset::measure {

class tbb_arena {
 public:
  explicit tbb_arena(std::vector<unsigned> const& processors)
      : ranks_(static_cast<rank_t>(processors.size())),
        threads_(tbb::global_control::max_allowed_parallelism, ranks_),
        driver_({processors.front()}),
        arena_(static_cast<int>(ranks_)),
        pinning_(arena_, processors) {}

  /// Runs `job` inside the arena; oneTBB's workers go to sleep by themselves when it ends.
  template <class Job>
  void run(Job&& job) {
    driver_.run([&](rank_t) { arena_.execute(job); });
  }

  /// body(rank) for every rank, inside the arena. oneTBB does not promise that they run at the same time.
  template <class Body>
  void on_all_ranks(Body&& body) const {
    tbb::parallel_for(
        rank_t{0}, ranks_, [&](rank_t rank) { body(rank); }, tbb::static_partitioner());
  }

 private:
  class pinning : public tbb::task_scheduler_observer {
   public:
    pinning(tbb::task_arena& arena, std::vector<unsigned> const& processors)
        : tbb::task_scheduler_observer(arena), processors_(processors) {
      observe(true);
    }
    ~pinning() override { observe(false); }
    void on_scheduler_entry(bool) override {
      auto const slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
      numa::bind_this_thread(processors_[slot % processors_.size()]);
    }

   private:
    std::vector<unsigned> processors_;
  };

  rank_t ranks_;
  tbb::global_control threads_;
  crew driver_;
  tbb::task_arena arena_;
  pinning pinning_;
};

}  // namespace coset::measure
