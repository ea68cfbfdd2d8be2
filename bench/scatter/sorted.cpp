// SPDX-License-Identifier: Apache-2.0
// Scatters that sum up the updates of an element first: by sorting all, or by a hash map for each thread.
#include <omp.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "bench/scatter/rivals.hpp"

namespace coset::measure {
namespace {

using range = ::tbb::blocked_range<std::size_t>;

template <class T>
struct update {
  std::uint32_t key;
  T value;
};

/// A run of equal keys belongs to the range in which it begins.
template <class T>
void add_runs(std::vector<update<T>> const& sorted, range const& part, T* to) {
  std::size_t at = part.begin();
  while (at > 0 && at < part.end() && sorted[at].key == sorted[at - 1].key) ++at;
  while (at < part.end()) {
    std::uint32_t const key = sorted[at].key;
    T sum = 0;
    for (; at < sorted.size() && sorted[at].key == key; ++at) sum += sorted[at].value;
    to[key] += sum;
  }
}

template <class T>
void sort_and_segment(scatter_work<T>& of, std::vector<update<T>>& all) {
  auto const* const key = of.keys();
  value_reader const value(of);
  all.resize(of.updates());
  ::tbb::parallel_for(range(0, all.size(), 4096), [&](range const& part) {
    for (std::size_t u = part.begin(); u < part.end(); ++u) all[u] = {key[u], value[u]};
  });
  ::tbb::parallel_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.key < b.key; });
  ::tbb::parallel_for(range(0, all.size(), 4096),
                      [&, to = of.target()](range const& part) { add_runs(all, part, to); });
}

/// Open addressing, at most half full; which slots are in use is listed, so that clearing costs what was touched.
template <class T>
class sums_by_key {
 public:
  void reserve(std::size_t keys) {
    if (!slots_.empty()) return;
    slots_.assign(std::bit_ceil(2 * keys + 2), {none, 0});
    shift_ = static_cast<unsigned>(64 - std::countr_zero(slots_.size()));
    used_.reserve(keys);
  }
  void add(std::uint32_t key, T value) {
    for (std::size_t at = (key * std::uint64_t{0x9E3779B97F4A7C15}) >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
      update<T>& slot = slots_[at];
      if (slot.key == none) {
        slot.key = key;
        used_.push_back(static_cast<std::uint32_t>(at));
      }
      if (slot.key != key) continue;
      slot.value += value;
      return;
    }
  }
  /// take(key, sum) of all, which are forgotten.
  template <class Take>
  void drain(Take const& take) {
    for (std::uint32_t const at : used_) {
      take(slots_[at].key, slots_[at].value);
      slots_[at] = {none, 0};
    }
    used_.clear();
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<update<T>> slots_;
  std::vector<std::uint32_t> used_;
  unsigned shift_ = 0;
};

template <class T>
void hash_maps(scatter_work<T>& of, std::vector<sums_by_key<T>>& maps) {
  T* const to = of.target();
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates();
#pragma omp parallel
  {
    auto& mine = maps[static_cast<std::size_t>(omp_get_thread_num())];
    mine.reserve(std::min(of.length(), updates / maps.size() + 1));
#pragma omp for schedule(static) nowait
    for (std::size_t u = 0; u < updates; ++u) mine.add(key[u], value[u]);
    mine.drain([to](std::uint32_t at, T sum) {
#pragma omp atomic
      to[at] += sum;
    });
  }
}

/// Nobody would sort or hash more.
constexpr std::size_t most_updates = std::size_t{64} << 20;

}  // namespace

template <class T>
void add_sorted(scatter_ways& ways, scatter_work<T>& of, int threads) {
  if (of.updates() > most_updates) return;
  ways.push_back({"sort and segment", origin::rival,
                  [&of, all = std::make_shared<std::vector<update<T>>>()] { sort_and_segment(of, *all); }, true});
  ways.push_back({"hash maps", origin::rival,
                  [&of, all = std::make_shared<std::vector<sums_by_key<T>>>(static_cast<std::size_t>(threads))] {
                    hash_maps(of, *all);
                  }});
}

template void add_sorted(scatter_ways&, scatter_work<double>&, int);
template void add_sorted(scatter_ways&, scatter_work<std::uint32_t>&, int);

}  // namespace coset::measure
