// SPDX-License-Identifier: Apache-2.0
// Rounding, and what becomes of subnormal numbers: the part of a thread's control words that decides the bits of a sum.
#pragma once

#include <cstdint>

#include "coset/detail/reduction.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace coset::runtime {

/// The processor's control words. `mode_bits`: of these, what decides the bits of results; the others (exception masks, and
/// on x86 the sticky flags) stay the thread's own.
namespace control_word {

#if defined(__x86_64__)
using word = std::uint32_t;
inline constexpr word mode_bits = 0x8000 | 0x6000 | 0x0040;  // of MXCSR: flush to zero, rounding, subnormals are zeros
inline word read() noexcept { return _mm_getcsr(); }
inline void write(word all) noexcept { _mm_setcsr(all); }

// The x87's, with which nothing but long double is computed.
using extended_word = std::uint16_t;
inline constexpr extended_word extended_mode_bits = 0x0c00 | 0x0300;  // rounding, precision
inline extended_word read_extended() noexcept {
  extended_word all;
  asm volatile("fnstcw %0" : "=m"(all));
  return all;
}
inline void write_extended(extended_word all) noexcept { asm volatile("fldcw %0" : : "m"(all)); }
#else
#if defined(__aarch64__)
using word = std::uint64_t;
// Of FPCR: AHP, DN, FZ, RMode, FZ16, NEP, AH, FIZ.
inline constexpr word mode_bits = 0x07c80007;
inline word read() noexcept {
  word all;
  asm volatile("mrs %0, fpcr" : "=r"(all));
  return all;
}
inline void write(word all) noexcept { asm volatile("msr fpcr, %0" : : "r"(all)); }
#else
using word = std::uint32_t;
inline constexpr word mode_bits = ~word{0};  // rounding is all that C++ knows of
inline word read() noexcept { return static_cast<word>(std::fegetround()); }
inline void write(word all) noexcept { std::fesetround(static_cast<int>(all)); }
#endif
using extended_word = std::uint16_t;
inline constexpr extended_word extended_mode_bits = 0;
inline extended_word read_extended() noexcept { return 0; }
inline void write_extended(extended_word) noexcept {}
#endif

}  // namespace control_word

/// What ranks of a team have in common while they fold, whatever their threads' own modes are.
class floating_point_mode {
 public:
  static floating_point_mode of_this_thread() noexcept {
    return {control_word::read() & control_word::mode_bits,
            static_cast<control_word::extended_word>(control_word::read_extended() & control_word::extended_mode_bits)};
  }
  /// To nearest, with subnormal numbers: what a program starts with. Choices are made in it, so that all ranks, whose own
  /// modes may differ, choose alike.
  static floating_point_mode usual() noexcept;

  /// In words that processors of all kinds share: hosts may differ. What one of them lacks, it ignores.
  std::uint32_t in_common() const noexcept;
  static floating_point_mode from_common(std::uint32_t) noexcept;

  /// Whether this thread would compute such things in another one. Cost: reads a control word and compares; for code of
  /// callers, which may use long double, two. Nothing for integers.
  bool differs_here(detail::arithmetic what) const noexcept {
    if (what == detail::arithmetic::integer) return false;
    if (((control_word::read() ^ word_) & control_word::mode_bits) != 0) [[unlikely]]
      return true;
    return what == detail::arithmetic::any &&
           ((control_word::read_extended() ^ extended_) & control_word::extended_mode_bits) != 0;
  }

  bool operator==(floating_point_mode const&) const = default;

 private:
  friend class computing_in;
  floating_point_mode(control_word::word w, control_word::extended_word e) noexcept : word_(w), extended_(e) {}

  control_word::word word_;
  control_word::extended_word extended_;
};

/// Until the end of the scope this thread computes in this mode; then in its own again, with the sticky flags that were
/// raised meanwhile. Nothing happens where the modes do not differ.
///
/// What is to be computed in the mode has to be behind a call that the compiler cannot see through, such as a fold's: arithmetic
/// beside it could be moved out of the scope.
class computing_in {
 public:
  computing_in(floating_point_mode const& mode, detail::arithmetic what) noexcept {
    if (mode.differs_here(what)) [[unlikely]]
      enter(mode);
  }
  ~computing_in() {
    if (entered_) [[unlikely]]
      leave();
  }
  computing_in(computing_in const&) = delete;
  computing_in& operator=(computing_in const&) = delete;

 private:
  void enter(floating_point_mode const&) noexcept;
  void leave() noexcept;

  bool entered_ = false;
  control_word::word own_;  ///< what this thread had; set where `entered_`
  control_word::extended_word own_extended_;
};

}  // namespace coset::runtime
