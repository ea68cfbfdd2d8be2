// SPDX-License-Identifier: Apache-2.0
// Threads that sleep between jobs, so that contestants of one process do not disturb each other.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "coset/error.hpp"

namespace coset::measure {

/// A place where `ranks` threads of any origin sleep until there is a job.
class parking {
 public:
  explicit parking(rank_t ranks) : ranks_(ranks) {}

  /// Called once by each thread: does every job as `rank`, returns after close().
  void serve(rank_t rank);

  /// Has every rank do `job`, which must not throw; the caller sleeps until all have. One caller at a time.
  void run(std::function<void(rank_t)> const& job);

  void close();

 private:
  rank_t ranks_;
  std::mutex mutex_;
  std::condition_variable new_job_, job_done_;
  std::function<void(rank_t)> const* job_ = nullptr;
  std::uint64_t jobs_ = 0;
  rank_t busy_ = 0;
  bool closed_ = false;
};

/// False if threads share a processor.
bool have_one_each(std::vector<unsigned> const& processors);

/// Looks before the first yield: threads that share a processor yield at once.
int looks_among(std::vector<unsigned> const& processors);

/// Plain threads, one on each of the processors.
class crew {
 public:
  /// Throws topology_error naming a processor that the system does not let threads be pinned to.
  explicit crew(std::vector<unsigned> const& processors);
  ~crew();

  rank_t size() const noexcept { return static_cast<rank_t>(threads_.size()); }
  void run(std::function<void(rank_t)> const& job) { parking_.run(job); }

 private:
  parking parking_;
  std::vector<std::jthread> threads_;
};

/// Returns once every other thread of this process sleeps, so that the next contestant has the processors to itself.
/// Throws timed_out with the number of threads still running after two seconds. Cost: tens of µs.
void wait_until_others_sleep();

}  // namespace coset::measure
