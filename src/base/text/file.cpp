// SPDX-License-Identifier: Apache-2.0
#include "base/text/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace coset::text {
namespace {

class opened {
 public:
  /// Without waiting for somebody who writes into a pipe.
  explicit opened(char const* path) : number_(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~opened() {
    if (number_ >= 0) close(number_);
  }
  opened(opened const&) = delete;
  opened& operator=(opened const&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string reason() { return format("cannot be read: {}", std::strerror(errno)); }

std::string refusal_of(opened const& file, std::uint64_t most_bytes) {
  struct stat found {};
  if (file.number() < 0 || fstat(file.number(), &found) != 0) return reason();
  if (S_ISDIR(found.st_mode)) return "is a directory";
  if (!S_ISREG(found.st_mode)) return "is a pipe or device, not a file";
  auto const bytes = static_cast<std::uint64_t>(found.st_size);
  return bytes > most_bytes ? format("has {} bytes, at most {} are read", bytes, most_bytes) : "";
}

}  // namespace

std::string refusal_of_file(std::string const& path) { return refusal_of(opened(path.c_str()), most_file_bytes); }

file_content read_file(std::string const& path, std::uint64_t most_bytes) {
  opened const file(path.c_str());
  file_content read{{}, refusal_of(file, most_bytes)};
  if (!read.refusal.empty()) return read;
  std::array<char, 1 << 14> piece;
  for (;;) {
    auto const got = ::read(file.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {{}, reason()};
    if (got == 0) return read;
    if (read.text.size() + static_cast<std::size_t>(got) > most_bytes)  // as it grows, or of /proc, whose sizes are 0
      return {{}, format("has more than {} bytes", most_bytes)};
    read.text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace coset::text
