// SPDX-License-Identifier: Apache-2.0
// Cells as they are played: by threads of a kind, each way in its turn.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/collectives/omp/openmp_threads.hpp"
#include "bench/collectives/tbb/tbb_arena.hpp"
#include "bench/scatter/rivals.hpp"

namespace coset::measure {

/// Threads of both kinds on the same processors.
struct scatter_threads {
  explicit scatter_threads(std::vector<unsigned> const& processors) : openmp(processors), tasks(processors) {}
  int count() const { return openmp.threads(); }

  /// `job()` by the thread from which this way starts.
  template <class Job>
  void run(scatter_way const& way, Job const& job) {
    if (way.of_tasks) return tasks.run(job);
    openmp.run([&] {
      omp_set_num_threads(openmp.threads());
      job();
    });
  }

  openmp_threads openmp;
  tbb_arena tasks;
};

/// coset's chosen way is the first.
template <class T>
scatter_ways all_ways(scatter_work<T>& of, int threads) {
  scatter_ways ways;
  add_coset(ways, of, threads);
  add_plain(ways, of, threads);
  add_copies(ways, of, threads);
  add_partitions(ways, of, threads);
  add_sorted(ways, of, threads);
  return ways;
}

/// play(work) for the elements that the cell has.
template <class Play>
auto with_work_of(cell const& what, std::size_t threads, Play const& play) {
  if (what.type == element::u32) {
    scatter_work<std::uint32_t> work(what, threads);
    return play(work);
  }
  scatter_work<double> work(what, threads);
  return play(work);
}

/// One step of one way as the first thing that a process does: prints its nanoseconds. The threads are there already.
/// Returns whether the target is right.
bool play_once(cell const&, std::string const& way, std::vector<unsigned> const& processors);

/// First uses of all ways, each by a process of its own, in turns; false if one failed or was wrong.
bool play_first_uses(std::vector<cell> const&, std::size_t threads, std::size_t rounds,
                     nlohmann::ordered_json& results);

}  // namespace coset::measure
