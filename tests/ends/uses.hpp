// SPDX-License-Identifier: Apache-2.0
// What a program can do with coset, in functions that say whether the result is right.
#pragma once

#include <span>

namespace coset::ends {

struct use {
  char const* name;
  bool (*is_right)();
};

std::span<use const> of_verbs();
std::span<use const> of_reducers();
std::span<use const> of_runtimes();
/// Once per process: these tests count on it.
std::span<use const> of_c();

}  // namespace coset::ends
