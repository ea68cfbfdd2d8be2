// SPDX-License-Identifier: Apache-2.0
// The ways of a cell that take turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/scatter/work.hpp"

namespace coset::measure {

enum class origin {
  chosen,  ///< coset::omp::scatter_add as users call it
  own,     ///< the same by a named way
  other,   ///< another means of coset
  rival    ///< somebody else's
};

/// One way to play a cell. Memory that is kept from step to step is made by the first.
struct scatter_way {
  std::string name;
  origin from;
  std::function<void()> step;
  bool of_tasks = false;  ///< by oneTBB's threads, not OpenMP's
};
using scatter_ways = std::vector<scatter_way>;

/// Private copies of more than this together are not played.
inline constexpr std::size_t most_copied = std::size_t{2} << 30;

template <class T>
bool copies_fit(scatter_work<T> const& of, int threads) {
  return of.shape().bytes() * static_cast<std::size_t>(threads) < most_copied;
}

/// Part `at` of `parts` of n begins here.
inline std::size_t share(std::size_t n, std::size_t at, std::size_t parts) { return n * at / parts; }

// Each adds ways of this work by so many threads; the work outlives them.

/// coset's; the first one is the chosen way.
template <class T>
void add_coset(scatter_ways&, scatter_work<T>&, int threads);
/// Without other memory: the serial loop, atomics, scans by owners.
template <class T>
void add_plain(scatter_ways&, scatter_work<T>&, int threads);
/// A copy of the target for each thread.
template <class T>
void add_copies(scatter_ways&, scatter_work<T>&, int threads);
/// Updates put where those of the same part of the target are.
template <class T>
void add_partitions(scatter_ways&, scatter_work<T>&, int threads);
/// Updates sorted as a whole, and a hash map for each thread.
template <class T>
void add_sorted(scatter_ways&, scatter_work<T>&, int threads);

/// What coset knows of the cell, and the plan that it makes of that, in words.
template <class T>
std::string facts_and_plan(scatter_work<T>&, int threads);

}  // namespace coset::measure
