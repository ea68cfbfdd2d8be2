// SPDX-License-Identifier: Apache-2.0
// The loops whose threads add into arrays, on every process.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace coset::measure {

/// No loop has more arrays.
inline constexpr std::size_t most_arrays = 2;
/// Where one copy of a loop's arrays begins, array by array.
using array_places = std::array<double*, most_arrays>;

/// The data of one process's threads. All values are whole numbers, so that sums are exact in any order.
class hybrid_loop {
 public:
  virtual ~hybrid_loop() = default;

  /// Elements of each array.
  virtual std::vector<std::size_t> lengths() const = 0;
  /// One thread's iterations, each of which adds `weight` times something. One function for all contestants: they execute
  /// the same instructions here, so their times differ by their reductions alone.
  virtual void add(std::size_t thread, double weight, array_places const& to) const = 0;
};

struct loop_shape {
  std::string program;
  std::size_t length = 0;   ///< doubles of all arrays together, at most
  std::size_t updates = 0;  ///< per thread and cycle, about
};

/// Threads [first, first + count) of `all` are the process's own.
struct thread_range {
  std::size_t first = 0, count = 1, all = 1;
};

std::vector<std::string> const& loop_names();
std::unique_ptr<hybrid_loop> make_loop(loop_shape const&, thread_range const&);

}  // namespace coset::measure
