// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share: which ends of a run are answers, and the others, which libFuzzer reports.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "coset/error.hpp"

namespace coset::test {

inline std::string_view text_of(std::uint8_t const* data, std::size_t size) {
  return {reinterpret_cast<char const*>(data), size};
}

/// An exception of coset's own is an answer; any other goes on and ends the process. Whether there was none.
template <class Run>
bool answers(Run run) {
  try {
    run();
    return true;
  } catch (error const&) {
    return false;
  }
}

/// What must hold whatever the input is.
inline void demand(bool truth, std::string_view what) {
  if (truth) return;
  std::cerr << "does not hold: " << what << '\n';
  std::abort();
}

/// A file in memory, for readers that want a name.
class memory_file {
 public:
  explicit memory_file(std::string_view content) : descriptor_(memfd_create("input", 0)) {
    demand(descriptor_ >= 0, "there are files in memory");
    auto const written = write(descriptor_, content.data(), content.size());
    demand(written == static_cast<ssize_t>(content.size()), "a small file can be written");
  }
  ~memory_file() { close(descriptor_); }
  memory_file(memory_file const&) = delete;
  memory_file& operator=(memory_file const&) = delete;

  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace coset::test
