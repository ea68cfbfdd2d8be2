// SPDX-License-Identifier: Apache-2.0
// Loops as users write them, beside the same on raw pointers: loops_test.py compares what the compiler makes of both.
#include <cstddef>
#include <cstdint>

#include "coset/reducers/joint_reducer.hpp"

using coset::joint_reducer;
using coset::reducer;

extern "C" {

void one_array_by_pointer(double* mine, std::uint32_t const* key, double const* weight, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) mine[key[i]] += weight[i];
}
void one_array_by_reducer(reducer<double>& sum, std::uint32_t const* key, double const* weight, std::size_t count) {
  auto const mine = sum.local();
  for (std::size_t i = 0; i < count; ++i) mine[key[i]] += weight[i];
}

void three_arrays_by_pointer(double* x, double* y, float* z, std::uint32_t const* key, double const* weight,
                             std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    x[key[i]] += weight[i];
    y[key[i]] += 2 * weight[i];
    z[key[i]] += static_cast<float>(weight[i]);
  }
}
void three_arrays_by_reducer(joint_reducer<double, double, float>& sums, std::uint32_t const* key, double const* weight,
                             std::size_t count) {
  auto const [x, y, z] = sums.local();
  for (std::size_t i = 0; i < count; ++i) {
    x[key[i]] += weight[i];
    y[key[i]] += 2 * weight[i];
    z[key[i]] += static_cast<float>(weight[i]);
  }
}

}  // extern "C"
