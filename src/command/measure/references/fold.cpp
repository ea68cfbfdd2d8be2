// SPDX-License-Identifier: Apache-2.0
// Fused folds, one loop per number of sources.
#include "command/measure/references/fold.hpp"

#include <algorithm>

#include "command/measure/machine/vector_levels.hpp"
#include "command/measure/references/operators.hpp"

namespace coset::measure {
namespace {

template <class T, class Op, rank_t Sources>
[[gnu::always_inline]] inline void fused(T* to, T const* const* from, std::size_t begin, std::size_t end) {
  T const* source[Sources];
  std::copy_n(from, Sources, source);
#pragma omp simd
  for (std::size_t i = begin; i < end; ++i) {
    T value = source[0][i];
    for (rank_t s = 1; s < Sources; ++s) value = Op::apply(value, source[s][i]);
    to[i] = value;
  }
}

template <class T, class Op>
[[gnu::always_inline]] inline void fold_few(T* to, T const* const* from, rank_t sources, std::size_t begin,
                                            std::size_t end) {
  switch (sources) {
    case 1:
      return fused<T, Op, 1>(to, from, begin, end);
    case 2:
      return fused<T, Op, 2>(to, from, begin, end);
    case 3:
      return fused<T, Op, 3>(to, from, begin, end);
    case 4:
      return fused<T, Op, 4>(to, from, begin, end);
    case 5:
      return fused<T, Op, 5>(to, from, begin, end);
    case 6:
      return fused<T, Op, 6>(to, from, begin, end);
    case 7:
      return fused<T, Op, 7>(to, from, begin, end);
    default:
      return fused<T, Op, 8>(to, from, begin, end);
  }
}

constexpr rank_t most_fused = 8;
constexpr std::size_t tile = 1024;  // items that stay in the first-level cache between passes

template <class T, class Op>
struct fold_body {
  [[gnu::always_inline]] static void run(void* to, void const* const* from, rank_t sources, std::size_t begin,
                                         std::size_t end) {
    auto* const out = static_cast<T*>(to);
    auto const* const in = reinterpret_cast<T const* const*>(from);
    if (sources <= most_fused) return fold_few<T, Op>(out, in, sources, begin, end);
    for (std::size_t at = begin; at < end; at += tile) {
      std::size_t const stop = std::min(end, at + tile);
      fold_few<T, Op>(out, in, most_fused, at, stop);
      for (rank_t next = most_fused; next < sources; next += most_fused - 1) {
        T const* pass[most_fused] = {out};
        rank_t const more = std::min(sources - next, most_fused - 1);
        std::copy_n(in + next, more, pass + 1);
        fold_few<T, Op>(out, pass, more + 1, at, stop);
      }
    }
  }
};

using signature = void(void*, void const* const*, rank_t, std::size_t, std::size_t);

}  // namespace

fold_function fold_for(element_kind element, operation_kind operation) {
  return visit_types(element, operation,
                     []<class T, class Op>() { return vector_levels<fold_body<T, Op>, signature>::best(); });
}

slice slice_of(std::size_t count, rank_t ranks, rank_t rank) {
  constexpr std::size_t line = 16;
  std::size_t const lines = (count + line - 1) / line;
  std::size_t const share = (lines + ranks - 1) / ranks * line;
  std::size_t const begin = std::min(count, share * rank);
  return {begin, std::min(count, begin + share)};
}

}  // namespace coset::measure
