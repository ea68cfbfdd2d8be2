// SPDX-License-Identifier: Apache-2.0
// program local|global PLUGIN…: opens the plugins, and uses their coset and its own by turns, from the same thread.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "copy.hpp"

namespace {

part_with_coset const* part_of(char const* plugin, int visible) {
  void* const opened = dlopen(plugin, RTLD_NOW | visible);
  if (opened == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<part_with_coset const* (*)()>(dlsym(opened, "coset_of_part"))();
}

/// A part whose name says shared calls the shared library, others their own copy.
bool is_of(char const* part, char const* file) {
  if (std::strstr(part, "shared") != nullptr) return std::strstr(file, "/libcoset.so") != nullptr;
  return std::strcmp(part, file) == 0;
}

}  // namespace

int main(int count, char** arguments) {
  constexpr int times = 10;
  int const visible = std::string_view(arguments[1]) == "global" ? RTLD_GLOBAL : RTLD_LOCAL;
  std::vector<part_with_coset const*> parts{coset_of_part()};
  for (int k = 2; k < count; ++k) parts.push_back(part_of(arguments[k], visible));
  int wrong = 0;
  for (int k = 0; k < times; ++k)
    for (auto const* each : parts) each->add_one();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    char const* const name = arguments[k == 0 ? 0 : k + 1];
    if (char const* const what = parts[k]->what_is_wrong(times)) {
      std::printf("%s: %s is wrong\n", name, what);
      ++wrong;
    }
    if (!is_of(name, parts[k]->file_of_calls()) || std::strcmp(name, parts[k]->file_of_what_headers_define()) != 0) {
      std::printf("%s calls coset of %s and %s\n", name, parts[k]->file_of_calls(),
                  parts[k]->file_of_what_headers_define());
      ++wrong;
    }
    if (!parts[k]->recognises(parts[k]->fail)) {
      std::printf("%s does not recognise its own errors\n", name);
      ++wrong;
    }
  }
  return wrong;
}
