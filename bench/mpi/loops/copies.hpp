// SPDX-License-Identifier: Apache-2.0
// Private copies by hand, kept from cycle to cycle, and what is done with slices of them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace coset::measure {

/// Uninitialised doubles, on huge pages where an expert would ask for these. Whoever writes them first has them nearby.
class double_array {
 public:
  double_array() = default;
  explicit double_array(std::size_t count);

  double* data() const { return memory_.get(); }

 private:
  struct free_memory {
    void operator()(double* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<double, free_memory> memory_;
};

/// Elements [begin, end).
struct element_range {
  std::size_t begin = 0, end = 0;
};
/// One of `parts` parts of a range: whole cache lines, so that two threads never write to one.
element_range part_of(element_range const&, std::size_t part, std::size_t parts);

/// to = the sum of so many arrays, element by element; `to` may be one of them.
void sum_range(double const* const* arrays, std::size_t count, double* to, element_range const&);
/// The same, and zeros in the arrays instead, chunk by chunk: each is still in the nearest cache when it is cleared.
void move_sum_of_range(double* const* arrays, std::size_t count, double* to, element_range const&);
void clear_range(double* array, element_range const&);
void copy_range(double const* from, double* to, element_range const&);

/// All elements read once, at the speed of memory. Each counts by its place in a line, so that forces, whose plain sum is
/// zero, do not add up to nothing.
double read_sum(double const* array, std::size_t count);

/// A copy of all arrays for each thread, zero between cycles.
class private_copies {
 public:
  /// Opens a region, in which each thread clears its own.
  private_copies(std::size_t threads, std::size_t length);

  double* of(std::size_t thread) const { return begins_[thread]; }
  /// `to` = the sum of all copies in this range, which is zero then. Behind a barrier.
  void move_sum(double* to, element_range const& range) const {
    move_sum_of_range(begins_.data(), begins_.size(), to, range);
  }

 private:
  std::vector<double_array> memory_;
  std::vector<double*> begins_;
};

}  // namespace coset::measure
