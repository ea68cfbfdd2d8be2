// SPDX-License-Identifier: Apache-2.0
#include "bench/reducer/scatter.hpp"

#include <algorithm>
#include <random>

namespace coset::measure {

scatter::scatter(std::size_t of, std::size_t updates, pattern where) : elements(of), index(updates), hits(of) {
  std::mt19937_64 random(1);
  std::size_t const window = std::max<std::size_t>(elements / 100, 1);
  std::size_t const begin = where == pattern::window ? elements / 3 / window * window : 0;
  std::size_t const length = where == pattern::window ? std::min(window, elements - begin) : elements;
  for (auto& one : index) {
    one = static_cast<std::uint32_t>(begin + random() % length);
    ++hits[one];
  }
}

std::size_t scatter::wrong(std::vector<double> const& after, std::size_t steps) const {
  std::size_t found = 0;
  for (std::size_t i = 0; i < elements; ++i)
    found += after[i] != static_cast<double>(hits[i]) * static_cast<double>(steps) ? 1 : 0;
  return found;
}

}  // namespace coset::measure
