// SPDX-License-Identifier: Apache-2.0
// The ways to play a cell: what each has to do in a cycle, and what all of them share.
#pragma once

#include <omp.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/mpi/loops/copies.hpp"
#include "bench/mpi/loops/loop.hpp"
#include "bench/mpi/loops/processes.hpp"

namespace coset::measure {

/// One loop of one size, on one process. A loop's arrays lie behind each other in one: experts reduce them by one call.
class loop_cell {
 public:
  loop_cell(processes& all, hybrid_loop const& loop);

  processes& all() const { return all_; }
  std::size_t length() const { return length_; }
  std::size_t threads() const { return all_.threads(); }
  double* total() const { return total_.data(); }
  /// Those of all ways that keep copies by hand; each leaves zeros.
  private_copies const& copies() const { return copies_; }
  /// This thread's slice of the whole.
  element_range slice_of(std::size_t thread) const { return part_of({0, length_}, thread, threads()); }
  /// The arrays in the total, one by one.
  std::vector<std::span<double>> targets() const;

  /// One thread's updates, into a copy of the whole or into arrays that lie anywhere.
  void add(std::size_t thread, double weight, double* copy) const {
    array_places to{};
    for (std::size_t k = 0; k < offsets_.size(); ++k) to[k] = copy + offsets_[k];
    loop_.add(thread, weight, to);
  }
  void add(std::size_t thread, double weight, array_places const& to) const { loop_.add(thread, weight, to); }

 private:
  processes& all_;
  hybrid_loop const& loop_;
  std::vector<std::size_t> offsets_;
  std::size_t length_ = 0;
  double_array total_;
  private_copies copies_;
};

/// This thread of its region.
inline std::size_t this_thread() { return static_cast<std::size_t>(omp_get_thread_num()); }

/// Made, used and destroyed by all processes in the same order.
class hybrid_way {
 public:
  hybrid_way(std::string name, loop_cell const& cell) : cell_(cell), name_(std::move(name)) {}
  virtual ~hybrid_way() = default;
  hybrid_way(hybrid_way const&) = delete;
  hybrid_way& operator=(hybrid_way const&) = delete;

  std::string const& name() const { return name_; }
  /// Why it does not play this cell; empty if it does. The same on every process.
  virtual std::string declines() const { return {}; }
  /// The loop of this process's threads, and both reductions.
  virtual void cycle(double weight) = 0;
  /// Where this process's results are: the total, or one for each of its threads.
  virtual std::vector<double const*> totals() const { return {cell_.total()}; }

 protected:
  loop_cell const& cell_;

 private:
  std::string name_;
};
using hybrid_ways = std::vector<std::unique_ptr<hybrid_way>>;

/// Threads of all processes, as coset's; one for all cells, as adopted threads serve one team.
class coset_threads;
std::shared_ptr<coset_threads> make_coset_threads(std::size_t threads);
std::string describe(coset_threads const&);

// Each adds ways of this cell, which outlives them.

/// coset's one call, which comes first; its reducer with MPI, and its verbs.
void add_coset(hybrid_ways&, loop_cell const&, std::shared_ptr<coset_threads> const&);
/// OpenMP and MPI alone.
void add_by_hand(hybrid_ways&, loop_cell const&);
/// Memory that the processes of a host share, by hand.
void add_window(hybrid_ways&, loop_cell const&);

}  // namespace coset::measure
