// SPDX-License-Identifier: Apache-2.0
// What ThreadSanitizer is told of the order between threads, where a program is compiled with it and this library is not.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define COSET_SEEN_BY_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COSET_SEEN_BY_SANITIZER 1
#endif
#endif

// Of the sanitizer's interface for what it cannot see; null in programs without it.
extern "C" {
[[gnu::weak]] void __tsan_acquire(void*);
[[gnu::weak]] void __tsan_release(void*);
}

namespace coset::runtime {

/// Whether there is a sanitizer that sees the program but not the library: then every atomic operation through which data
/// of callers pass from one thread to another has to be told. What runs per call asks once per rank (rank_memory::watched).
inline bool sanitizer_is_told() noexcept {
#if defined(COSET_SEEN_BY_SANITIZER)
  return false;  // it sees the library's atomic operations, and would see less by being told
#else
  return __tsan_acquire != nullptr && __tsan_release != nullptr;
#endif
}

/// To be called before a store that releases, and after a load that has acquired what was stored there.
inline void tell_release(void const* word) noexcept {
  if (sanitizer_is_told()) [[unlikely]]
    __tsan_release(const_cast<void*>(word));
}
inline void tell_acquire(void const* word) noexcept {
  if (sanitizer_is_told()) [[unlikely]]
    __tsan_acquire(const_cast<void*>(word));
}

}  // namespace coset::runtime
#undef COSET_SEEN_BY_SANITIZER
