// SPDX-License-Identifier: Apache-2.0
// What tests have to know where qemu-user emulates the processor (cmake/cross.cmake, ./dev test --arm).
#pragma once

#include <sys/prctl.h>

#include <cstdlib>

namespace coset::test {

/// Then limits of address space limit nothing, and mappings show no flags.
inline bool emulated() { return std::getenv("TEST_EMULATOR") != nullptr; }

/// Whether the child of a process with several threads can start some; under ThreadSanitizer and qemu-user it cannot.
inline bool children_start_threads() {
#if defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return false;
#endif
#endif
  return !emulated();
}

/// Whether the kernel takes seccomp's filters; an emulator does not pass them on.
inline bool kernel_takes_filters() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

}  // namespace coset::test
