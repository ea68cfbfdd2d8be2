// SPDX-License-Identifier: Apache-2.0
// Scatters by a counted radix partition: each thread counts its updates of each part of the target, puts them behind each
// other, and then each part is one thread's.
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "bench/scatter/rivals.hpp"

namespace coset::measure {
namespace {

template <class T>
struct update {
  std::uint32_t key;
  T value;
};
/// A count needs no value.
template <>
struct update<std::uint32_t> {
  std::uint32_t key;
  static constexpr std::uint32_t value = 1;
};

template <class T>
update<T> update_of(scatter_work<T> const& of, std::size_t u) {
  if constexpr (scatter_work<T>::counts) {
    return {of.keys()[u]};
  } else {
    return {of.keys()[u], of.values()[u]};
  }
}

constexpr std::size_t line_bytes = 64;

void store_line(std::byte* to, std::byte const* from) {
#ifdef __SSE2__
  for (std::size_t k = 0; k < line_bytes; k += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), _mm_load_si128(reinterpret_cast<__m128i const*>(from + k)));
#else
  std::memcpy(to, from, line_bytes);
#endif
}

struct alignas(line_bytes) line {
  std::byte bytes[line_bytes];
};

/// One thread's updates, by parts. Parts begin on lines.
template <class T>
struct sorted_share {
  static constexpr std::size_t of_line = line_bytes / sizeof(update<T>);

  std::unique_ptr<line[]> memory;
  std::vector<std::uint32_t> begin, end;  ///< [part]
  std::vector<line> composed;             ///< [part]: the line that becomes full next

  update<T>* updates() const { return reinterpret_cast<update<T>*>(memory.get()); }
};

template <class T>
class partition {
 public:
  partition(scatter_work<T>& of, unsigned bits, int threads, bool combines)
      : of_(of),
        bits_(bits),
        parts_(((of.length() - 1) >> bits) + 1),
        combines_(combines),
        shares_(static_cast<std::size_t>(threads)) {}

  void step() {
    T* const to = of_.target();
#pragma omp parallel
    {
      auto const t = static_cast<std::size_t>(omp_get_thread_num());
      sorted_share<T>& mine = shares_[t];
      std::size_t const first = share(of_.updates(), t, shares_.size()),
                        last = share(of_.updates(), t + 1, shares_.size());
      count(mine, first, last);
      combines_ ? move_lines(mine, first, last) : move(mine, first, last);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
      for (std::size_t part = 0; part < parts_; ++part)
        for (auto const& each : shares_)
          for (update<T> const* u = each.updates() + each.begin[part]; u < each.updates() + each.end[part]; ++u)
            to[u->key] += u->value;
    }
  }
  /// As if nothing had been kept.
  void forget() {
    for (auto& each : shares_) each = {};
  }

 private:
  void count(sorted_share<T>& mine, std::size_t first, std::size_t last) const {
    constexpr std::size_t of_line = sorted_share<T>::of_line;
    if (!mine.memory) mine.memory = std::make_unique_for_overwrite<line[]>((last - first) / of_line + 1 + parts_);
    mine.end.assign(parts_, 0);
    mine.begin.resize(parts_);
    auto const* const key = of_.keys();
    for (std::size_t u = first; u < last; ++u) ++mine.end[key[u] >> bits_];
    std::size_t at = 0;
    for (std::size_t part = 0; part < parts_; ++part) {
      std::size_t const lines = (mine.end[part] + of_line - 1) / of_line;
      mine.begin[part] = mine.end[part] = static_cast<std::uint32_t>(at);
      at += lines * of_line;
    }
  }

  void move(sorted_share<T>& mine, std::size_t first, std::size_t last) const {
    update<T>* const into = mine.updates();
    std::uint32_t* const end = mine.end.data();
    for (std::size_t u = first; u < last; ++u) {
      update<T> const one = update_of(of_, u);
      into[end[one.key >> bits_]++] = one;
    }
  }

  /// By lines that are composed in the cache and stored past it (Wassenberg and Sanders, Euro-Par 2011).
  void move_lines(sorted_share<T>& mine, std::size_t first, std::size_t last) const {
    constexpr std::uint32_t of_line = sorted_share<T>::of_line;
    mine.composed.resize(parts_);
    std::uint32_t* const end = mine.end.data();
    auto const line_of = [&](std::size_t at) { return mine.memory[at / of_line].bytes; };
    for (std::size_t u = first; u < last; ++u) {
      update<T> const one = update_of(of_, u);
      std::size_t const part = one.key >> bits_;
      std::byte* const composed = mine.composed[part].bytes;
      std::uint32_t const at = end[part]++;
      reinterpret_cast<update<T>*>(composed)[at % of_line] = one;
      if (at % of_line == of_line - 1) store_line(line_of(at), composed);
    }
    for (std::size_t part = 0; part < parts_; ++part)
      if (end[part] % of_line > 0)
        std::memcpy(line_of(end[part]), mine.composed[part].bytes, end[part] % of_line * sizeof(update<T>));
#ifdef __SSE2__
    _mm_sfence();
#endif
  }

  scatter_work<T>& of_;
  unsigned const bits_;
  std::size_t const parts_;
  bool const combines_;
  std::vector<sorted_share<T>> shares_;
};

/// Fewer parts than two need no partition; more than these have more open lines than caches and their translations hold.
bool is_sensible(std::size_t length, unsigned bits) {
  std::size_t const parts = ((length - 1) >> bits) + 1;
  return parts >= 2 && parts <= 4096;
}

}  // namespace

template <class T>
void add_partitions(scatter_ways& ways, scatter_work<T>& of, int threads) {
  for (unsigned const bits : {12U, 14U, 16U, 18U}) {
    if (!is_sensible(of.length(), bits) || (bits == 12 && of.length() > std::size_t{1} << 16)) continue;
    auto const kept = std::make_shared<partition<T>>(of, bits, threads, false);
    ways.push_back({"partition 2^" + std::to_string(bits), origin::rival, [kept] { kept->step(); }});
    if (bits != 16) continue;
    ways.push_back(
        {"partition 2^16, anew", origin::rival, [all = std::make_shared<partition<T>>(of, bits, threads, false)] {
           all->forget();
           all->step();
         }});
  }
  for (unsigned const bits : {14U, 16U}) {
    if (!is_sensible(of.length(), bits)) continue;
    ways.push_back({"partition 2^" + std::to_string(bits) + ", lines", origin::rival,
                    [all = std::make_shared<partition<T>>(of, bits, threads, true)] { all->step(); }});
  }
}

template void add_partitions(scatter_ways&, scatter_work<double>&, int);
template void add_partitions(scatter_ways&, scatter_work<std::uint32_t>&, int);

}  // namespace coset::measure
