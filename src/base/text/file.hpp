// SPDX-License-Identifier: Apache-2.0
// Files that somebody else wrote: read whole, or refused with the reason.
#pragma once

#include <cstdint>
#include <string>

#include "base/text/format.hpp"

namespace coset::text {

struct file_content {
  std::string text;
  std::string refusal;  ///< why there is none, to follow the file's name: "is a directory"; empty if it was read
};

/// Far more than plans, profiles and machines have.
inline constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 28;

/// Takes regular files only: opening a pipe may wait for ever, and a device may never end.
file_content read_file(std::string const& path, std::uint64_t most_bytes = most_file_bytes);

/// Why read_file() would refuse it; empty if it would not. For libraries that open files themselves.
std::string refusal_of_file(std::string const& path);

/// The text of a file that messages call `name`. Throws Error if there is none.
template <class Error>
std::string content_of(std::string const& path, std::string const& name, std::uint64_t most_bytes = most_file_bytes) {
  auto read = read_file(path, most_bytes);
  if (!read.refusal.empty()) throw Error(format("{} {}", name, read.refusal));
  return std::move(read.text);
}

}  // namespace coset::text
