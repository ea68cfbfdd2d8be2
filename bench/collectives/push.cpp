// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/push.hpp"

#include <algorithm>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace coset::measure {

#if defined(__SSE2__)

void stream_copy(void* to, void const* from, std::size_t bytes) {
  constexpr std::size_t wide = sizeof(__m128i);
  auto* out = static_cast<std::byte*>(to);
  auto const* in = static_cast<std::byte const*>(from);
  std::size_t const head = std::min(bytes, (wide - reinterpret_cast<std::uintptr_t>(out) % wide) % wide);
  std::memcpy(out, in, head);
  std::size_t done = head;
  for (; done + wide <= bytes; done += wide) {
    __m128i const value = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + done));
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + done), value);
  }
  std::memcpy(out + done, in + done, bytes - done);
}

void fence_streams() { _mm_sfence(); }

#else

void stream_copy(void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void fence_streams() {}

#endif

}  // namespace coset::measure
