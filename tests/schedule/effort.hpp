// SPDX-License-Identifier: Apache-2.0
// How much the enumerating tests enumerate: COSET_TEST_EFFORT is small, long, or absent.
#pragma once

#include <cstdlib>
#include <string>

namespace coset::schedule {

/// The value for small, ordinary and long effort.
template <typename Value>
Value by_effort(Value small, Value ordinary, Value large) {
  char const* const set = std::getenv("COSET_TEST_EFFORT");
  std::string const effort = set == nullptr ? "" : set;
  return effort == "small" ? small : effort == "long" ? large : ordinary;
}

}  // namespace coset::schedule
