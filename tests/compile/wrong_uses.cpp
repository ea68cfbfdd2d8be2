// SPDX-License-Identifier: Apache-2.0
// What callers may not write, one case at a time, given as WRONG_USE; if that is empty this compiles.
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "coset/coset.hpp"

void use([[maybe_unused]] coset::member& me) {
  [[maybe_unused]] std::vector<double> const input(3);
  [[maybe_unused]] std::vector<double> output(3);
  WRONG_USE
}
