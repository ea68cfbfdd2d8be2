// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi/loops/copies.hpp"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "command/measure/machine/vector_levels.hpp"

namespace coset::measure {
namespace {

constexpr std::size_t line = 8;    // doubles
constexpr std::size_t tile = 512;  // doubles that stay in the nearest cache while all copies are added to them

struct sum_body {
  [[gnu::always_inline]] static void run(double const* const* from, std::size_t count, double* to, std::size_t begin,
                                         std::size_t end) {
    for (std::size_t at = begin; at < end; at += tile) {
      std::size_t const stop = std::min(end, at + tile);
      pass(from[0], count > 1 ? from[1] : nullptr, to, at, stop);
      for (std::size_t k = 2; k < count; ++k) pass(to, from[k], to, at, stop);
    }
  }
  [[gnu::always_inline]] static void pass(double const* a, double const* b, double* to, std::size_t begin,
                                          std::size_t end) {
    if (b == nullptr) {
      std::copy(a + begin, a + end, to + begin);
      return;
    }
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) to[i] = a[i] + b[i];
  }
};

struct move_body {
  [[gnu::always_inline]] static void run(double* const* from, std::size_t count, double* to, std::size_t begin,
                                         std::size_t end) {
    for (std::size_t at = begin; at < end; at += tile) {
      std::size_t const stop = std::min(end, at + tile);
      sum_body::run(from, count, to, at, stop);
      for (std::size_t k = 0; k < count; ++k) std::fill(from[k] + at, from[k] + stop, 0.0);
    }
  }
};

struct read_body {
  [[gnu::always_inline]] static void run(double const* from, std::size_t count, double* sum) {
    constexpr std::size_t width = 4 * line;  // a chain of additions for each: no one waits for the one before
    double partial[width] = {};
    std::size_t at = 0;
    for (; at + width <= count; at += width) {
#pragma omp simd
      for (std::size_t k = 0; k < width; ++k) partial[k] += from[at + k];
    }
    for (std::size_t k = 0; at + k < count; ++k) partial[k] += from[at + k];
    *sum = 0;
    for (std::size_t k = 0; k < width; ++k) *sum += static_cast<double>(k % line + 1) * partial[k];
  }
};

}  // namespace

double_array::double_array(std::size_t count) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  std::size_t const bytes = count * sizeof(double), unit = bytes >= huge ? huge : 64;
  memory_.reset(static_cast<double*>(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)));
  if (!memory_) throw std::bad_alloc();
  if (unit == huge) madvise(memory_.get(), bytes, MADV_HUGEPAGE);
}

element_range part_of(element_range const& whole, std::size_t part, std::size_t parts) {
  std::size_t const lines = (whole.end - whole.begin + line - 1) / line;
  auto const boundary = [&](std::size_t k) { return std::min(whole.end, whole.begin + lines * k / parts * line); };
  return {boundary(part), boundary(part + 1)};
}

void sum_range(double const* const* arrays, std::size_t count, double* to, element_range const& range) {
  using signature = void(double const* const*, std::size_t, double*, std::size_t, std::size_t);
  static auto const best = vector_levels<sum_body, signature>::best();
  best(arrays, count, to, range.begin, range.end);
}

void move_sum_of_range(double* const* arrays, std::size_t count, double* to, element_range const& range) {
  using signature = void(double* const*, std::size_t, double*, std::size_t, std::size_t);
  static auto const best = vector_levels<move_body, signature>::best();
  best(arrays, count, to, range.begin, range.end);
}

void clear_range(double* array, element_range const& range) { std::fill(array + range.begin, array + range.end, 0.0); }

void copy_range(double const* from, double* to, element_range const& range) {
  std::copy(from + range.begin, from + range.end, to + range.begin);
}

double read_sum(double const* array, std::size_t count) {
  static auto const best = vector_levels<read_body, void(double const*, std::size_t, double*)>::best();
  double sum = 0;
  best(array, count, &sum);
  return sum;
}

private_copies::private_copies(std::size_t threads, std::size_t length) {
  for (std::size_t t = 0; t < threads; ++t) begins_.push_back(memory_.emplace_back(length).data());
#pragma omp parallel
  clear_range(begins_[static_cast<std::size_t>(omp_get_thread_num())], {0, length});
}

}  // namespace coset::measure
