// SPDX-License-Identifier: Apache-2.0
// The work of a step: additions at places of an array that are known only at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command/measure/harness/contestant.hpp"

namespace coset::measure {

/// Where a step's updates go.
enum class pattern {
  everywhere,  ///< anywhere in the array, at random
  window       ///< anywhere in a contiguous hundredth of it, at random
};

/// One step: elements[index[u]] += 1 for all u. All steps are the same, so the array after k of them is known.
struct scatter {
  scatter(std::size_t elements, std::size_t updates, pattern);

  /// Elements that are not what `steps` steps make of zeros.
  std::size_t wrong(std::vector<double> const& after, std::size_t steps) const;

  /// Whether a programmer would say so: few of many.
  bool is_sparse() const { return index.size() < elements / 10; }

  std::size_t elements;
  std::vector<std::uint32_t> index;
  std::vector<std::uint32_t> hits;  ///< [element] in one step
};

/// A contestant of steps: updates by all threads, combined into one array. What is timed is what a program's loop over
/// time steps does: the updates, and whatever makes one array of them.
class stepping : public contestant {
 public:
  using contestant::contestant;

  /// The work of the bursts to come.
  void prepare(scatter const& work) { work_ = &work; }

  burst_result burst(workload const&, burst_order const& order) final {
    burst_result result;
    std::vector<double> array(work_->elements);
    result.nanoseconds = steps(order, array);
    result.wrong = work_->wrong(array, order.warmup + order.iterations);
    return result;
  }

 protected:
  scatter const& work() const { return *work_; }

  /// Plays all steps on `array`; nanoseconds of each, as samples.
  virtual std::vector<double> steps(burst_order const&, std::vector<double>& array) = 0;

 private:
  scatter const* work_ = nullptr;
};

using steppers = std::vector<std::unique_ptr<stepping>>;

/// One thread on each of the processors. The first of each is coset.
steppers make_openmp_steppers(std::vector<unsigned> const& processors);
steppers make_tbb_steppers(std::vector<unsigned> const& processors);

}  // namespace coset::measure
