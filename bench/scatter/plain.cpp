// SPDX-License-Identifier: Apache-2.0
// Scatters that need no memory, or a page: the serial loop, atomics, scans by owners.
#include <omp.h>

#include <array>
#include <atomic>

#include "bench/scatter/rivals.hpp"

namespace coset::measure {
namespace {

template <class T>
void serial(scatter_work<T>& of) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  for (std::size_t u = 0, updates = of.updates(); u < updates; ++u) to[key[u]] += value[u];
}

template <class T>
void atomics(scatter_work<T>& of) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates();
#pragma omp parallel for schedule(static)
  for (std::size_t u = 0; u < updates; ++u) {
#pragma omp atomic
    to[key[u]] += value[u];
  }
}

/// Kokkos' ScatterView with ScatterAtomic: atomic_add() is a loop of compare-and-exchange for doubles.
template <class T>
void scatter_view_atomic(scatter_work<T>& of) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates();
#pragma omp parallel for schedule(static)
  for (std::size_t u = 0; u < updates; ++u) {
    std::atomic_ref<T> element(to[key[u]]);
    if constexpr (scatter_work<T>::counts) {
      element.fetch_add(1, std::memory_order_relaxed);
    } else {
      T before = element.load(std::memory_order_relaxed);
      while (!element.compare_exchange_weak(before, before + value[u], std::memory_order_relaxed)) {
      }
    }
  }
}

/// Each thread looks at all keys.
template <class T>
void scan(scatter_work<T>& of) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates(), length = of.length();
#pragma omp parallel
  {
    auto const t = static_cast<std::size_t>(omp_get_thread_num()), p = static_cast<std::size_t>(omp_get_num_threads());
    std::size_t const first = share(length, t, p), own = share(length, t + 1, p) - first;
    for (std::size_t u = 0; u < updates; ++u)
      if (key[u] - first < own) to[key[u]] += value[u];
  }
}

/// The same, but without branches that nobody could predict: a stretch's own updates are numbered first.
template <class T>
void compacting_scan(scatter_work<T>& of) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates(), length = of.length();
#pragma omp parallel
  {
    constexpr std::size_t stretch = 1024;
    auto const t = static_cast<std::size_t>(omp_get_thread_num()), p = static_cast<std::size_t>(omp_get_num_threads());
    auto const first = static_cast<std::uint32_t>(share(length, t, p));
    auto const own = static_cast<std::uint32_t>(share(length, t + 1, p) - first);
    std::array<std::uint32_t, stretch + 1> mine;
    for (std::size_t begin = 0; begin < updates; begin += stretch) {
      std::size_t const end = std::min(begin + stretch, updates);
      std::size_t found = 0;
      for (std::size_t u = begin; u < end; ++u) {
        mine[found] = static_cast<std::uint32_t>(u);
        found += key[u] - first < own ? 1 : 0;
      }
      for (std::size_t k = 0; k < found; ++k) to[key[mine[k]]] += value[mine[k]];
    }
  }
}

}  // namespace

template <class T>
void add_plain(scatter_ways& ways, scatter_work<T>& of, int) {
  ways.push_back({"serial", origin::rival, [&of] { serial(of); }});
  ways.push_back({"omp atomic", origin::rival, [&of] { atomics(of); }});
  ways.push_back({"ScatterView, atomic", origin::rival, [&of] { scatter_view_atomic(of); }});
  ways.push_back({"scan", origin::rival, [&of] { scan(of); }});
  ways.push_back({"scan, compacting", origin::rival, [&of] { compacting_scan(of); }});
}

template void add_plain(scatter_ways&, scatter_work<double>&, int);
template void add_plain(scatter_ways&, scatter_work<std::uint32_t>&, int);

}  // namespace coset::measure
