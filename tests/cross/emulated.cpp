// SPDX-License-Identifier: Apache-2.0
// Programs that start themselves anew, as death tests do, cannot where qemu-user emulates the processor: the kernel knows
// no program of that kind. Linked into those of a cross build, this has the emulator start them.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

// In place of the C library's.
extern "C" int execv(char const* path, char* const* arguments) noexcept {
  static std::array<char, 4096> resolved;
  static std::array<char*, 64> all;
  char* const emulator = std::getenv("TEST_EMULATOR");
  ssize_t const length = readlink(path, resolved.data(), resolved.size() - 1);  // of /proc/self/exe
  if (emulator == nullptr) return execve(path, arguments, environ);
  std::size_t count = 0;
  all[count++] = emulator;
  all[count++] = length > 0 ? resolved.data() : const_cast<char*>(path);
  while (count + 1 < all.size() && *arguments != nullptr && *++arguments != nullptr) all[count++] = *arguments;
  all[count] = nullptr;
  return execvp(emulator, all.data());
}
