// SPDX-License-Identifier: Apache-2.0
// How much the enumerating tests enumerate: COSET_TEST_EFFORT is small, long, or absent.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace coset::test {

enum class effort { small, ordinary, large };

inline effort wanted_effort() {
  char const* const set = std::getenv("COSET_TEST_EFFORT");
  std::string_view const word = set == nullptr ? "" : set;
  return word == "small" ? effort::small : word == "long" ? effort::large : effort::ordinary;
}

/// The value for small, ordinary and long effort.
template <class Value>
Value by_effort(Value small, Value ordinary, Value large) {
  switch (wanted_effort()) {
    case effort::small:
      return small;
    case effort::large:
      return large;
    case effort::ordinary:
      break;
  }
  return ordinary;
}

/// As the presets asan and tsan compile the tests.
#if defined(__clang__)
inline constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

/// Of types that differ in size or arithmetic but go the same ways: sanitizers, for which a type takes several times as long
/// to compile, get some of each size and kind. The other builds have them all.
template <class All, class Some>
using types = std::conditional_t<is_sanitized, Some, All>;

/// Of many alike cases: under small effort takes one of `each`, which is to share no factor with how many the loops around
/// it have, so that their values still meet one another. Sanitizers look at what runs, not at what comes out: where the cases
/// run the same code with other numbers, they may get fewer than everybody else.
class sample {
 public:
  explicit sample(unsigned each) : each_(wanted_effort() == effort::small ? each : 1) {}
  sample(unsigned each, unsigned each_sanitized) : sample(is_sanitized ? each_sanitized : each) {}
  bool skips() { return ++turn_ % each_ != 0; }

 private:
  unsigned each_, turn_ = 0;
};

/// Of the tests that draw at random: COSET_TEST_SEED, or always the same. They print what they drew from.
inline std::uint64_t seed() {
  char const* const set = std::getenv("COSET_TEST_SEED");
  return set == nullptr ? 1 : std::strtoull(set, nullptr, 10);
}

}  // namespace coset::test
