// SPDX-License-Identifier: Apache-2.0
// Floating-point modes of a thread, set and read beside the library: rounding by the C library, subnormals by the processor.
#pragma once

#include <cfenv>
#include <cstdint>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace coset::test {

/// Exception masks and modes, without sticky flags.
struct control_words {
  std::uint64_t vectors = 0, extended = 0;
  bool operator==(control_words const&) const = default;
};

inline control_words control_of_this_thread() {
#if defined(__x86_64__)
  std::uint16_t x87;
  asm volatile("fnstcw %0" : "=m"(x87));
  return {_mm_getcsr() & ~std::uint64_t{0x3f}, x87};
#elif defined(__aarch64__)
  std::uint64_t all;
  asm volatile("mrs %0, fpcr" : "=r"(all));
  return {all, 0};
#else
  return {static_cast<std::uint64_t>(std::fegetround()), 0};
#endif
}

struct mode {
  int rounding;
  bool flushes_results, flushes_operands;

  bool operator==(mode const&) const = default;
  std::string text() const {
    std::string const name = rounding == FE_TONEAREST  ? "nearest"
                             : rounding == FE_UPWARD   ? "up"
                             : rounding == FE_DOWNWARD ? "down"
                                                       : "zero";
    return name + (flushes_results ? "+ftz" : "") + (flushes_operands ? "+daz" : "");
  }
  void set() const {
    std::fesetround(rounding);
#if defined(__x86_64__)
    _mm_setcsr((_mm_getcsr() & ~0x8040u) | (flushes_results ? 0x8000u : 0) | (flushes_operands ? 0x40u : 0));
#elif defined(__aarch64__)
    std::uint64_t all;
    asm volatile("mrs %0, fpcr" : "=r"(all));
    all = (all & ~(std::uint64_t{1} << 24)) | (flushes_results ? std::uint64_t{1} << 24 : 0);
    asm volatile("msr fpcr, %0" : : "r"(all));
#endif
  }
};

inline constexpr mode usual_mode{FE_TONEAREST, false, false};

/// All that this processor has. One bit of aarch64's flushes both.
inline std::vector<mode> modes() {
  std::vector<mode> all;
  for (int const rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    all.push_back({rounding, false, false});
#if defined(__x86_64__)
    all.push_back({rounding, true, false});
    all.push_back({rounding, false, true});
#endif
#if defined(__x86_64__) || defined(__aarch64__)
    all.push_back({rounding, true, true});
#endif
  }
  return all;
}

/// This thread has the mode until the end of the scope.
class in_mode {
 public:
  explicit in_mode(mode const& m) { m.set(); }
  ~in_mode() { usual_mode.set(); }
  in_mode(in_mode const&) = delete;
  in_mode& operator=(in_mode const&) = delete;
};

}  // namespace coset::test
