// SPDX-License-Identifier: Apache-2.0
// Scatters into a copy of the target for each thread: kept, made anew, OpenMP's clause, as Kokkos duplicates.
#include <omp.h>

#include <memory>

#include "bench/scatter/rivals.hpp"

namespace coset::measure {
namespace {

template <class T>
using copies = std::vector<std::unique_ptr<T[]>>;

/// This thread's share of a loop of all threads, into `to`.
template <class T>
void add_share(scatter_work<T> const& of, T* to) {
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates();
#pragma omp for schedule(static)
  for (std::size_t u = 0; u < updates; ++u) to[key[u]] += value[u];
}

/// This thread's slice of all copies, into the target.
template <bool and_clear, class T>
void fold_share(copies<T> const& all, T* to, std::size_t length) {
  auto const t = static_cast<std::size_t>(omp_get_thread_num());
  for (auto const& copy : all) {
    T* const from = copy.get();
#pragma omp simd
    for (std::size_t i = share(length, t, all.size()); i < share(length, t + 1, all.size()); ++i) {
      to[i] += from[i];
      if (and_clear) from[i] = 0;
    }
  }
}

template <class T>
void kept(scatter_work<T>& of, copies<T>& all) {
  T* const to = of.target();
#pragma omp parallel
  {
    auto& own = all[static_cast<std::size_t>(omp_get_thread_num())];
    if (!own) own = std::make_unique<T[]>(of.length());
    add_share(of, own.get());
    fold_share<true>(all, to, of.length());
  }
}

template <class T>
void made_anew(scatter_work<T>& of, copies<T>& all) {
  T* const to = of.target();
#pragma omp parallel
  {
    auto& own = all[static_cast<std::size_t>(omp_get_thread_num())];
    own = std::make_unique<T[]>(of.length());
    add_share(of, own.get());
    fold_share<false>(all, to, of.length());
#pragma omp barrier
    own.reset();
  }
}

template <class T>
void clause(scatter_work<T>& of) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates(), length = of.length();
#pragma omp parallel for schedule(static) reduction(+ : to[:length])
  for (std::size_t u = 0; u < updates; ++u) to[key[u]] += value[u];
}

/// Kokkos' ScatterView with ScatterDuplicated: access() asks for the thread's number at each update, contribute() adds the
/// copies that lie behind each other, reset() clears them.
template <class T>
void scatter_view_duplicated(scatter_work<T>& of, std::unique_ptr<T[]>& all, int threads) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates(), length = of.length();
  if (!all) all = std::make_unique<T[]>(length * static_cast<std::size_t>(threads));
  T* const duplicates = all.get();
#pragma omp parallel for schedule(static)
  for (std::size_t u = 0; u < updates; ++u)
    duplicates[static_cast<std::size_t>(omp_get_thread_num()) * length + key[u]] += value[u];
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t t = 0; t < static_cast<std::size_t>(threads); ++t) to[i] += duplicates[t * length + i];
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < length * static_cast<std::size_t>(threads); ++i) duplicates[i] = 0;
}

}  // namespace

template <class T>
void add_copies(scatter_ways& ways, scatter_work<T>& of, int threads) {
  if (!copies_fit(of, threads)) return;
  auto const places = static_cast<std::size_t>(threads);
  ways.push_back(
      {"private, kept", origin::rival, [&of, all = std::make_shared<copies<T>>(places)] { kept(of, *all); }});
  ways.push_back(
      {"private, made anew", origin::rival, [&of, all = std::make_shared<copies<T>>(places)] { made_anew(of, *all); }});
  ways.push_back({"omp clause", origin::rival, [&of] { clause(of); }});
  ways.push_back(
      {"ScatterView, duplicated", origin::rival,
       [&of, threads, all = std::make_shared<std::unique_ptr<T[]>>()] { scatter_view_duplicated(of, *all, threads); }});
}

template void add_copies(scatter_ways&, scatter_work<double>&, int);
template void add_copies(scatter_ways&, scatter_work<std::uint32_t>&, int);

}  // namespace coset::measure
