// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/processor.hpp"

#include "hwy/targets.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#elif HWY_ARCH_ARM_A64
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace coset::kernels {

constinit bool copies_by_strings = false;

namespace {

#if HWY_ARCH_X86

/// Some of the bits that the processor tells of itself. The compilers' builtins know fewer of them, and bring 5 KB along.
struct page {
  unsigned a = 0, b = 0, c = 0, d = 0;
  explicit page(unsigned number) { __cpuid_count(number, 0, a, b, c, d); }
};
unsigned family_of(page const& basic) { return (basic.a >> 8 & 0xf) + (basic.a >> 20 & 0xff); }
constexpr unsigned extended_page = 7;  ///< processors with AVX2 have the others that are asked for, too
bool has_all(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

/// What of the registers the system saves: bits 1 and 2 are halves of AVX's, 5 to 7 those of AVX-512.
unsigned saved_registers() {
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// What each target takes is what Highway compiles it with.
std::int64_t vector_targets() {
  unsigned vendor = 0;
  if (static_cast<unsigned>(__get_cpuid_max(0, &vendor)) < extended_page) return 0;
  page const basic(1), extended(extended_page), of_amd(0x8000'0001);
  constexpr unsigned fast_short_strings = 1U << 4;
  bool const is_intel = vendor == signature_INTEL_ebx;
  bool const is_zen_5 = vendor == signature_AMD_ebx && family_of(basic) >= 0x1a;
  copies_by_strings = (is_intel || is_zen_5) && has_all(extended.d, fast_short_strings);
  constexpr unsigned for_sse4 = bit_SSE3 | bit_PCLMUL | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_AES;
  bool const has_avx2 = has_all(basic.c, for_sse4 | bit_FMA | bit_OSXSAVE | bit_AVX | bit_F16C) &&
                        has_all(extended.b, bit_BMI | bit_AVX2 | bit_BMI2) && has_all(of_amd.c, bit_LZCNT) &&
                        has_all(saved_registers(), 0x06);
  constexpr unsigned for_avx3 = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
  bool const has_avx3 = has_avx2 && has_all(extended.b, for_avx3) && has_all(saved_registers(), 0xe6);
  return (has_avx2 ? HWY_AVX2 : 0) | (has_avx3 ? HWY_AVX3 : 0);
}

#elif HWY_ARCH_ARM_A64

/// Bits of the kernel's interface, whose headers may be older.
constexpr unsigned long has_aes = 1UL << 3, has_sve = 1UL << 22, has_sve2 = 1UL << 1, has_sve_aes = 1UL << 2;
constexpr int get_vector_length = 51;
constexpr int vector_length_mask = 0xffff;

std::int64_t vector_targets() {
  unsigned long const first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  std::int64_t found = (first & has_aes) != 0 ? HWY_NEON : 0;
  if ((first & has_sve) == 0) return found;
  bool const has_second = (second & has_sve2) != 0 && (second & has_sve_aes) != 0;
  int const bytes = prctl(get_vector_length) & vector_length_mask;
  found |= HWY_SVE | (bytes == 32 ? HWY_SVE_256 : 0);
  return found | (has_second ? HWY_SVE2 | (bytes == 16 ? HWY_SVE2_128 : 0) : 0);
}

#else

std::int64_t vector_targets() { return 0; }

#endif

}  // namespace

std::int64_t supported_targets() {
  // To ask takes 4 µs a page under a hypervisor, which answers instead.
  static std::int64_t const found = vector_targets() | HWY_ENABLED_BASELINE | HWY_STATIC_TARGET;
  return found;
}

}  // namespace coset::kernels
