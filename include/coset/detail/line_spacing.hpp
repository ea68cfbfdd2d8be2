// SPDX-License-Identifier: Apache-2.0
// How far apart words lie that different threads write.
#pragma once

#include <cstddef>

#include "coset/detail/abi.hpp"

namespace coset::inline COSET_ABI::detail {

/// Fixed for each architecture, as processes of different compilers share memory; std::hardware_destructive_interference_size
/// follows the compiler's options. The longest of its machines: prefetchers of x86 fetch pairs of lines of 64 bytes, POWER
/// has lines of 128, aarch64 of 64 (Neoverse), 128 (Apple) or 256 (A64FX), s390x of 256.
#if defined(__aarch64__) || defined(__s390x__)
inline constexpr std::size_t line_spacing = 256;
#else
inline constexpr std::size_t line_spacing = 128;
#endif

}  // namespace coset::detail
